// The pages whose code is loaded when one of them is opened: they are a second file, so that the first is small.
export { Notebook, Notebooks, People, Tensorboards, Volumes } from './notebooks.js';
export { PipelineRun, Pipelines, PipelineVersion } from './pipelines.js';
export { Submit } from './submit.js';
