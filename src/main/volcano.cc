// The one binary: the program name (vcctl, vc-scheduler, ...) or the first word picks the program.
#include <mimalloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "main/host/base/version.h"
#include "main/programs/programs.h"

namespace {

using volcano_main::Arguments;

struct Program {
  std::string_view word;  // "volcano WORD"
  std::string_view name;  // as a program of its own; empty: none
  int (*run)(const Arguments&);
  std::string_view help;
  std::string_view other_name = {};  // by which Deployments of others start it
};

int print_version(const Arguments&) {
  std::cout << "volcano " << volcano_main::kVersion << "\n";
  return 0;
}

constexpr std::array kPrograms{
    Program{"up", "", volcano_main::run_up, "start a cluster on this machine"},
    Program{"fsck", "", volcano_main::run_fsck, "check and mend the data folder of a cluster that is not running"},
    Program{"backup", "", volcano_main::run_backup, "write all objects of a cluster, which may run, into a file"},
    Program{"restore", "", volcano_main::run_restore, "make a data folder from a backup"},
    Program{"ui", "", volcano_main::run_ui, "the web page of a cluster, or a new link to that of volcano up"},
    Program{"user", "", volcano_main::run_user, "make and list certificates for people who share the machine"},
    Program{"install", "", volcano_main::run_install,
            "copy this program to a prefix, with its links, unit, man pages and completion"},
    Program{"simulate", "", volcano_main::run_simulate, "run a whole cluster on virtual time, from a seed"},
    Program{"crd", "", volcano_main::run_crd, "print the CustomResourceDefinitions of our kinds"},
    Program{"policies", "", volcano_main::run_policies, "print the admission rules as policies of Kubernetes"},
    Program{"reference", "", volcano_main::run_reference, "print a page of the reference: api, metrics or scheduler"},
    Program{"monitor", "", volcano_main::run_monitor,
            "keep one container's output and exit code (started by the node agent)"},
    Program{"gpu-watch", "", volcano_main::run_gpu_watch,
            "tell what the NVIDIA driver says of this machine's GPUs (started by the node agent)"},
    Program{"image", "", volcano_main::run_image, "import, list and remove the images that pods here can use"},
    Program{"schedule", "", volcano_main::run_schedule, "decide what the scheduler would do with the objects in files"},
    Program{"admit", "", volcano_main::run_admit, "say what admission says to the objects in files"},
    Program{"vcctl", "vcctl", volcano_main::run_vcctl, "jobs and queues from the command line"},
    Program{"notebook", "", volcano_main::run_notebook, "make notebooks, open, stop and start them"},
    Program{"tensorboard", "", volcano_main::run_tensorboard, "make and open TensorBoards"},
    Program{"pipeline", "", volcano_main::run_pipeline, "upload, run and look at pipelines"},
    Program{"vsub", "vsub", volcano_main::run_vsub, "submit a job"},
    Program{"vjobs", "vjobs", volcano_main::run_vjobs, "view job information"},
    Program{"vqueues", "vqueues", volcano_main::run_vqueues, "view queue information"},
    Program{"vcancel", "vcancel", volcano_main::run_vcancel, "cancel a job"},
    Program{"vsuspend", "vsuspend", volcano_main::run_vsuspend, "suspend a job"},
    Program{"vresume", "vresume", volcano_main::run_vresume, "resume a job"},
    Program{"controller-manager", "vc-controller-manager", volcano_main::run_controller_manager,
            "run the controllers on a cluster"},
    Program{"hypernode-controller-manager", "vc-hypernode-controller-manager",
            volcano_main::run_hypernode_controller_manager, "discover HyperNodes on a cluster"},
    Program{"training-operator", "training-operator", volcano_main::run_training_operator,
            "run training jobs of kubeflow.org on a cluster", "manager"},
    Program{"kubeflow-controllers", "", volcano_main::run_kubeflow_controllers,
            "run notebooks, TensorBoards, profiles and pipelines on a cluster"},
    Program{"webhook-manager", "vc-webhook-manager", volcano_main::run_webhook_manager,
            "answer a cluster's admission webhooks"},
    Program{"admission-secret", "gen-admission-secret.sh", volcano_main::run_admission_secret,
            "put the keys of the webhook server into their Secret"},
    Program{"preflight", "", volcano_main::run_preflight,
            "say what keeps Volcano, or this in its place, from running on a cluster"},
    Program{"scheduler", "vc-scheduler", volcano_main::run_scheduler, "run the scheduler on a cluster"},
    Program{"agent-scheduler", "vc-agent-scheduler", volcano_main::run_agent_scheduler,
            "run the scheduler for single pods in a hurry on a cluster"},
    Program{"cluster-ui", "volcano-ui", volcano_main::run_cluster_ui,
            "serve the page of a cluster to its users, each with a token of their own"},
    Program{"agent", "vc-agent", volcano_main::run_agent, "share a node of a cluster between online and offline pods"},
    Program{"version", "", print_version, "print the version"},
};

}  // namespace

std::vector<std::string> volcano_main::program_names() {
  std::vector<std::string> names;
  for (const Program& program : kPrograms)
    if (!program.name.empty()) names.emplace_back(program.name);
  return names;
}

namespace {

int usage(std::FILE* to) {
  std::fprintf(to, "usage: volcano COMMAND [flags]\n\ncommands:\n");
  for (const Program& program : kPrograms)
    std::fprintf(to, "  %-20.*s %.*s\n", static_cast<int>(program.word.size()), program.word.data(),
                 static_cast<int>(program.help.size()), program.help.data());
  return to == stdout ? 0 : 2;
}

// The output may still wait in a buffer, and may have no place to go to.
int finish(int status) {
  std::cout.flush();
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good();
  if (written) return status;
  std::fprintf(stderr, "volcano: the output could not be written%s%s\n", errno != 0 ? ": " : "",
               errno != 0 ? std::strerror(errno) : "");
  return status == 0 ? 1 : status;
}

// Lists come page by page, and each page wants the memory of the last one: what is free goes back to the system after a
// second, not at once, which would cost a fourth of the CPU of a start beside a large cluster.
void keep_free_memory_for_a_second() {
#if MI_MALLOC_VERSION >= 210
  mi_option_set(mi_option_purge_delay, 1000);
#else
  mi_option_set(mi_option_decommit_delay, 1000);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_free_memory_for_a_second();
  const std::string path = argc > 0 ? argv[0] : "volcano";
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const Program& program : kPrograms)
    if (!name.empty() && (name == program.name || name == program.other_name))
      return finish(program.run({argv + 1, argv + argc}));
  if (argc < 2) return usage(stderr);
  const std::string word = argv[1];
  if (word == "help" && argc > 2) {
    for (const Program& program : kPrograms)
      if (argv[2] == program.word || argv[2] == program.name) return finish(program.run({"--help"}));
    std::fprintf(stderr, "volcano: unknown command \"%s\"\n", argv[2]);
    return usage(stderr);
  }
  if (word == "help" || word == "--help" || word == "-h") return finish(usage(stdout));
  if (word == "--version") return finish(print_version({}));
  for (const Program& program : kPrograms)
    if (word == program.word || word == program.name) return finish(program.run({argv + 2, argv + argc}));
  std::fprintf(stderr, "volcano: unknown command \"%s\"\n", word.c_str());
  return usage(stderr);
}
