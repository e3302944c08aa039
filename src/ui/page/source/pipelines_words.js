// The Chinese words of the pages of pipelines.
import { addWords } from './words.js';

addWords({
  'Pipelines': '流水线', 'Pipeline': '流水线', 'Runs': '运行', 'Run': '运行', 'Recurring runs': '定期运行', 'Upload a pipeline': '上传流水线', 'Upload': '上传', 'Choose a file.': '请选择文件。', 'The file is larger than 10 MiB.': '文件大于 10 MiB。', 'Compiled pipeline (YAML, zip, tar.gz)': '编译后的流水线（YAML、zip、tar.gz）',
  'Name of the run': '运行名称', 'Tasks': '任务', 'Duration': '时长', 'Compare': '比较', 'Version': '版本', 'Description': '说明', 'Schedule': '计划', 'Next': '下一次', 'Enable': '启用', 'Disable': '停用', 'Graph': '图', 'loop': '循环', 'condition': '条件', 'exit handler': '退出处理', 'step': '步骤', 'attempt': '尝试', 'from the cache:': '来自缓存：',
  'Inputs': '输入', 'Outputs': '输出', 'Parameters': '参数', 'Retry': '重试', 'Terminate': '终止', 'Actions': '操作', 'Create': '创建', 'Its tasks and pods go with it.': '其任务和 Pod 将一并删除。', 'Runs that it was used for stay.': '用过它的运行会保留。', 'Choose a task to see its inputs, outputs and log.': '选择一个任务以查看其输入、输出和日志。', 'This pipeline has no graph that can be shown.': '此流水线没有可显示的图。',
  'Show': '显示', 'area': '面积', 'ROC curve': 'ROC 曲线', 'false positive rate': '假阳性率', 'recall': '召回率', 'Confusion matrix': '混淆矩阵', 'true \\ predicted': '真实 \\ 预测', 'The bytes are not text.': '内容不是文本。', 'First rows': '前几行', 'Scripts in it do not run.': '其中的脚本不会运行。', 'the first part': '开头部分', 'Metrics': '指标', 'more': '更多',
  'No run yet: upload a pipeline and run it, or use the SDK.': '还没有运行：上传流水线并运行，或使用 SDK。', 'No pipeline yet: upload one that the SDK compiled.': '还没有流水线：上传由 SDK 编译的流水线。', 'No recurring run yet: create one with the SDK.': '还没有定期运行：用 SDK 创建。', 'No run is there.': '没有此运行。', 'No pipeline is there.': '没有此流水线。', 'The cluster does not have this kind.': '集群没有这种对象。',
});
