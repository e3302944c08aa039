// The place of a run: the folders of this machine that its pods see, and their account.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace cli {

struct Mount {
  std::string host;
  std::string pod;
  bool is_read_only = false;
};

struct Place {
  std::string folder;  // where commands work; empty: where the image says
  std::vector<Mount> mounts;
  bool is_own = false;        // pods run as the person, for they see folders of this machine
  bool has_home = false;      // the machine's files stand in for images, so that the person's home is there, too
  bool keeps_output = false;  // what is written into `folder` is there afterwards
  bool sees_all = false;      // pods are plain processes, and nothing has to be mounted
  std::string remark;         // for the person; empty: nothing
};

// An error names the folder that the person may not use.
base::Result<Place> find_place(World& world, Api& server, const Values& values);
// The file of the output in a folder that pods see: one outside of the place is mounted, if the person may write there.
base::Status see_output(World& world, std::string& output, Place& place);
// Puts it into the template of a job's pods.
void set_place(const Place& place, const Person& person, api::Json& pod);

}  // namespace cli
