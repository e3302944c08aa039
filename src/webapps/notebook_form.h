// A filled form becomes a Notebook, as Kubeflow's jupyter web app makes it.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace webapps {

struct NotebookForm {
  std::string ns;
  std::string user;  // who fills it in
  api::Json body;
  api::Json config;  // spawnerFormDefaults
};

// A volume of the form: where it is mounted, and a claim that is still to be made or a source that there is.
struct FormVolume {
  std::string path;
  api::Json new_claim = {};
  api::Json source = {};
};

struct WantedNotebook {
  api::Json notebook;  // without volumes of the form
  std::vector<FormVolume> volumes;
};

// kBadRequest for a field that is wrong, missing, or fixed by the configuration.
base::Result<WantedNotebook> wanted_notebook(const NotebookForm& form);

// Adds a volume to the Notebook. `claim`: the name of the claim that was made of it; empty: its own source.
void add_volume(api::Json& notebook, const FormVolume& volume, const std::string& claim);

}  // namespace webapps
