// The Chinese words of the page on which jobs are submitted.
import { addWords } from './words.js';

addWords({
  'The scheduler would start {starting} of {pods} pods now, on {nodes} nodes.': '调度器现在会在 {nodes} 个节点上启动 {pods} 个 Pod 中的 {starting} 个。',
  'The scheduler would evict {evictions} pods of others for them.': '为此会驱逐其他任务的 {evictions} 个 Pod。',
  'The scheduler would let the job wait: {message}': '调度器会让任务等待：{message}',
});
