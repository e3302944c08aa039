// The page's words in the reader's language: English sentences are the keys.
const kChinese = {
  'Overview': '概览', 'Jobs': '任务', 'Queues': '队列', 'Machines': '机器', 'Submit': '提交', 'Notebooks': 'Notebook', 'TensorBoards': 'TensorBoard', 'People': '人员', 'Objects': '对象', 'Events': '事件',
  'Running': '运行中', 'Waiting': '等待中', 'Completed': '已完成', 'Failed': '失败', 'Suspended': '已挂起', 'Ended today': '今天结束',
  'Name': '名称', 'Namespace': '命名空间', 'Kind': '类型', 'State': '状态', 'Queue': '队列', 'User': '用户', 'Ready': '就绪', 'Age': '时长', 'Reason': '原因',
  'Filter': '筛选', 'Group by': '分组', 'nothing': '不分组', 'Save view': '保存视图', 'Saved views': '已保存的视图', 'Suspend': '挂起', 'Resume': '恢复', 'Cancel': '取消任务', 'Close': '关闭',
  'selected': '已选', 'Delete': '删除', 'Confirm': '确认', 'Back': '返回',
  'Use of the cluster': '集群使用情况', 'CPU': 'CPU', 'Memory': '内存', 'GPU': 'GPU', 'since this page was opened': '自打开本页以来', 'since the start': '自启动以来', 'requested': '已请求', 'of': '/',
  'Most frequent reasons': '最常见的原因', 'Needs a look': '需要关注', 'Nothing needs a look.': '没有需要关注的事项。', 'Nothing waits.': '没有等待中的任务。',
  'No job is here yet. Submit one, or run vsub.': '还没有任务。提交一个，或运行 vsub。', 'No job matches the filter.': '没有符合筛选条件的任务。',
  'Timeline': '时间线', 'Pods': 'Pod', 'Logs': '日志', 'YAML': 'YAML', 'Why it waits': '为什么在等待', 'Related objects': '相关对象', 'Nodes': '节点', 'Node': '节点',
  'created': '已创建', 'started': '已开始', 'scheduled': '已调度', 'ended': '已结束', 'admitted': '已准入', 'evicted': '被驱逐', 'submitted': '已提交',
  'The connection is lost; trying again.': '连接已断开，正在重试。', 'You may not see this.': '你没有查看权限。', 'These lists are refused: {names}.': '以下列表被拒绝：{names}。', 'The cluster does not have this kind.': '集群没有这种类型。', 'Loading…': '加载中…',
  'Your session has ended.': '会话已结束。', 'Run this for a new link:': '运行以下命令获取新链接：', 'Sign out': '退出', 'Signed in as': '已登录为', 'Language': '语言', 'Theme': '主题', 'system': '跟随系统', 'light': '浅色', 'dark': '深色',
  'Deserved': '应得', 'Guaranteed': '保证', 'Allocated': '已分配', 'Capability': '上限', 'open': '开放', 'closed': '关闭', 'Open': '开放', 'Closed': '关闭', 'Edit': '编辑', 'Create queue': '新建队列', 'Weight': '权重', 'Parent': '父队列', 'no limit': '不限',
  'What would change': '将会改变', 'Nothing would change.': '没有变化。', 'Save': '保存', 'Open the queue': '开放队列', 'Close the queue': '关闭队列',
  'Cordon': '停止调度', 'Uncordon': '恢复调度', 'Drain': '排空', 'Taints': '污点', 'Conditions': '状况', 'free': '空闲', 'not ready': '未就绪', 'cordoned': '已停止调度', 'Largest gang that fits': '可容纳的最大组', 'pods of one CPU': '个一核 Pod', 'pods of one GPU': '个单 GPU Pod',
  'Image': '镜像', 'Command': '命令', 'Count': '数量', 'Time limit': '时限', 'Environment': '环境变量', 'Volumes': '存储卷', 'GPUs': 'GPU 数', 'Check': '检查', 'Send': '发送', 'The YAML that is sent': '将发送的 YAML', 'Form': '表单', 'The server accepts this.': '服务器接受此内容。', 'Paste or drop YAML here': '在此粘贴或拖放 YAML',
  'Search': '搜索', 'Download': '下载', 'Follow': '跟随', 'Container': '容器', 'All pods': '全部 Pod', 'No output yet.': '还没有输出。', 'Type': '类型', 'Object': '对象', 'Message': '消息', 'Last seen': '最近出现', 'times': '次',
  'all': '全部', 'Choose a namespace above.': '请在上方选择命名空间。', 'rows': '行', 'This changes {n} jobs:': '将改变 {n} 个任务：', 'done': '完成', 'failed': '失败', 'Restarts': '重启', 'Pipelines': '流水线', 'Skip to content': '跳到内容', 'Navigation': '导航', 'Select': '选择', 'Select all that match': '选择全部匹配项', 'Yes, do it': '确定', 'No': '不',
  'is not ready': '未就绪', 'restarts again and again': '反复重启', 'No event yet.': '还没有事件。', 'No pod is there.': '没有 Pod。', 'No object of this kind.': '没有这种对象。', 'Sort by': '排序', 'member': '成员', 'of a gang of': '，组大小', 'Nothing holds it back.': '没有阻碍。', 'Usage': '使用', 'Somebody else changed it meanwhile. Look at the new state, and save again.': '其他人同时修改了它。请查看新状态后再次保存。',
  'unknown': '未知', 'cluster': '集群', 'Show the limit of all namespaces you may see': '显示你可查看的命名空间', 'in words of the scheduler': '调度器的说明',
};

const stored = () => {
  try {
    return localStorage.getItem('volcano-language');
  } catch {
    return null;
  }
};
let language = stored() || (globalThis.navigator?.language || '').slice(0, 2);
export const currentLanguage = () => (language === 'zh' ? 'zh' : 'en');
export function setLanguage(next) {
  language = next;
  try {
    localStorage.setItem('volcano-language', next);
  } catch {
    // a browser without storage forgets the choice
  }
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en';
}
export const t = (text, values = {}) => {
  let out = currentLanguage() === 'zh' ? kChinese[text] || text : text;
  for (const [key, value] of Object.entries(values)) out = out.replace(`{${key}}`, value);
  return out;
};
// Words of a page that is loaded later.
export const addWords = (words) => Object.assign(kChinese, words);
