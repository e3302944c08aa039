// The programs `volcano notebook` and `volcano tensorboard`.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/notebooks/notebook_object.h"

namespace cli {

Command notebook_root();
Command tensorboard_root();

// "notebook" or "tensorboard": the first part of its address, and the label of its pods.
struct NotebookKind {
  const api::ResourceId& resource;
  const char* word;
  const char* pod_label;
};
inline const NotebookKind kNotebookKind{kNotebooks, "notebook", "notebook-name"};
inline const NotebookKind kTensorboardKind{kTensorboards, "tensorboard", "app"};

// "STATE" and why, of an object that was read; asks for its pods, and for the group and queue of one that waits.
struct NotebookStanding {
  std::string word;
  std::string reason;
  bool is_ready = false;
  bool is_gone = false;
};
base::Result<NotebookStanding> standing_of(Api& server, const NotebookKind& kind, const std::string& ns,
                                           const std::string& name);
// Says each state once, until it is ready or `limit` is over (0: without end).
base::Status wait_until_ready(World& world, Api& server, const NotebookKind& kind, const std::string& ns,
                              const std::string& name, base::Duration limit);
// Prints a link that opens it in a browser.
void print_link(World& world, const Values& values, const NotebookKind& kind, const std::string& ns,
                const std::string& name);
// The lines of a list: as people read them, with states.
base::Status list_standings(World& world, const Values& values, const NotebookKind& kind);
base::Status open_by_link(World& world, const Values& values, const NotebookKind& kind);

}  // namespace cli
