// The programs inside the one binary. The program name or the first word picks one.
#pragma once

#include <string>
#include <vector>

#include "main/host/base/arguments.h"

namespace volcano_main {

// The names under which the binary is a program of its own, such as vcctl.
std::vector<std::string> program_names();

int run_up(const Arguments& arguments);
int run_fsck(const Arguments& arguments);
int run_backup(const Arguments& arguments);
int run_restore(const Arguments& arguments);
int run_ui(const Arguments& arguments);
int run_cluster_ui(const Arguments& arguments);
int run_user(const Arguments& arguments);
int run_crd(const Arguments& arguments);
int run_policies(const Arguments& arguments);
int run_reference(const Arguments& arguments);
int run_schedule(const Arguments& arguments);
int run_admit(const Arguments& arguments);
int run_simulate(const Arguments& arguments);
int run_monitor(const Arguments& arguments);
int run_gpu_watch(const Arguments& arguments);
int run_install(const Arguments& arguments);
int run_image(const Arguments& arguments);
int run_vcctl(const Arguments& arguments);
int run_notebook(const Arguments& arguments);
int run_pipeline(const Arguments& arguments);
int run_tensorboard(const Arguments& arguments);
int run_vsub(const Arguments& arguments);
int run_vjobs(const Arguments& arguments);
int run_vqueues(const Arguments& arguments);
int run_vcancel(const Arguments& arguments);
int run_vsuspend(const Arguments& arguments);
int run_vresume(const Arguments& arguments);
int run_scheduler(const Arguments& arguments);
int run_agent_scheduler(const Arguments& arguments);
int run_controller_manager(const Arguments& arguments);
int run_hypernode_controller_manager(const Arguments& arguments);
int run_training_operator(const Arguments& arguments);
int run_kubeflow_controllers(const Arguments& arguments);
int run_admission_secret(const Arguments& arguments);
int run_preflight(const Arguments& arguments);
int run_agent(const Arguments& arguments);
int run_webhook_manager(const Arguments& arguments);

}  // namespace volcano_main
