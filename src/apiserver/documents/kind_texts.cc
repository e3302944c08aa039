// The texts, by group and kind.
#include "apiserver/documents/kind_texts.h"

#include <map>
#include <utility>

namespace apiserver {

std::string_view kind_text(const api::KindInfo& kind) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const std::map<Key, std::string_view> kTexts = {
      {{"batch.volcano.sh", "Job"},
       "A Job runs pods of one or more tasks in a queue. They start together, once as many as minAvailable fit."},
      {{"batch.volcano.sh", "CronJob"}, "A CronJob makes Jobs by a schedule."},
      {{"bus.volcano.sh", "Command"}, "A Command asks for one action on a Job or Queue, and is gone when it is done."},
      {{"scheduling.volcano.sh", "PodGroup"},
       "A PodGroup holds pods that are scheduled together: none starts before minMember of them can."},
      {{"scheduling.volcano.sh", "Queue"}, "A Queue has a share of the cluster, and its jobs compete within it."},
      {{"nodeinfo.volcano.sh", "Numatopology"},
       "A Numatopology says which CPUs and devices of a node are near each other."},
      {{"topology.volcano.sh", "HyperNode"},
       "A HyperNode is a domain of the network: nodes, or smaller HyperNodes, that reach each other equally fast."},
      {{"flow.volcano.sh", "JobFlow"}, "A JobFlow runs Jobs in the order of what they depend on."},
      {{"flow.volcano.sh", "JobTemplate"}, "A JobTemplate is a Job that JobFlows make copies of."},
      {{"shard.volcano.sh", "NodeShard"}, "A NodeShard is the nodes that one of several schedulers may use."},
      {{"config.volcano.sh", "ColocationConfiguration"},
       "A ColocationConfiguration says how selected pods share their nodes with others."},
      {{"kubeflow.org", "PyTorchJob"}, "A PyTorchJob trains with PyTorch on a master and workers."},
      {{"kubeflow.org", "TFJob"},
       "A TFJob trains with TensorFlow on parameter servers, chiefs, workers and evaluators."},
      {{"kubeflow.org", "MPIJob"}, "An MPIJob starts an MPI program from a launcher on workers."},
      {{"kubeflow.org", "XGBoostJob"}, "An XGBoostJob trains with XGBoost on a master and workers."},
      {{"kubeflow.org", "PaddleJob"}, "A PaddleJob trains with PaddlePaddle on a master and workers."},
      {{"kubeflow.org", "JAXJob"}, "A JAXJob runs a JAX program on workers."},
      {{"kubeflow.org", "Notebook"}, "A Notebook is a server of notebooks that can be stopped and started again."},
      {{"tensorboard.kubeflow.org", "Tensorboard"}, "A Tensorboard shows the logs of trainings on a page."},
      {{"kubeflow.org", "PVCViewer"}, "A PVCViewer shows the files of a claim on a page."},
      {{"kubeflow.org", "PodDefault"}, "A PodDefault is what selected pods get when they are created."},
      {{"kubeflow.org", "Profile"}, "A Profile is a person's namespace, its limits, and who may do what in it."},
      {{"pipelines.kubeflow.org", "Pipeline"}, "A Pipeline is a name for versions of the same work."},
      {{"pipelines.kubeflow.org", "PipelineVersion"}, "A PipelineVersion is a compiled document that can be run."},
      {{"pipelines.kubeflow.org", "Experiment"}, "An Experiment is a shelf for runs of pipelines."},
      {{"pipelines.kubeflow.org", "PipelineRun"}, "A PipelineRun is one execution of a pipeline."},
      {{"pipelines.kubeflow.org", "PipelineTask"}, "A PipelineTask is one task of a PipelineRun."},
      {{"argoproj.io", "Workflow"}, "A Workflow runs the templates of a pipeline as pods, in the format of Argo."},
      {{"pipelines.kubeflow.org", "RecurringRun"}, "A RecurringRun makes PipelineRuns at times of a schedule."},
  };
  const auto found = kTexts.find(Key{kind.resource.group, kind.kind});
  return found == kTexts.end() ? std::string_view() : found->second;
}

}  // namespace apiserver
