// The Chinese words of the pages that are loaded when they are opened.
import { addWords } from './words.js';

addWords({
  'Create notebook': '创建 Notebook', 'Create TensorBoard': '创建 TensorBoard', 'Create volume': '创建存储卷', 'Create profile': '创建用户空间', 'Image': '镜像', 'another image': '其他镜像', 'Workspace': '工作区', 'size of the home folder’s volume; empty: none': '主目录存储卷的大小；空：无',
  'Stop when idle for': '空闲多久后停止', 'Configurations': '配置', 'Open it': '打开', 'Stop': '停止', 'Start': '启动', 'Stopped': '已停止', 'Stopping': '停止中', 'Starting': '启动中', 'No notebook is there.': '没有 Notebook。', 'Actions': '操作', 'No notebook yet: create one here, or by the command volcano notebook create NAME.': '还没有 Notebook：在这里创建，或使用命令 volcano notebook create NAME。', 'No TensorBoard yet: create one for the logs of a run.': '还没有 TensorBoard：为一次运行的日志创建一个。', 'No volume yet: create one, and choose it in the forms of notebooks.': '还没有存储卷：创建一个，然后在 Notebook 表单中选择它。', 'No profile yet: create one for each person or team.': '还没有用户空间：为每个人或团队创建一个。',
  'Logs of a run': '运行日志', 'Volume': '存储卷', 'Path in the volume, or s3:// or gs://': '卷内路径，或 s3:// 或 gs://', 'none': '无', 'Size': '大小', 'Class': '存储类', 'Used by': '使用者', 'Owner': '所有者', 'Quota': '配额', 'Rights': '权限', 'Used': '已用', 'Who may what': '谁可以做什么', 'Its volumes stay.': '其存储卷会保留。', 'What is in it is lost.': '其中的内容将丢失。', 'Its namespace goes with everything in it.': '其命名空间及其中的一切将被删除。',
  'The cluster does not have this kind.': '集群没有这种对象。', 'Create': '创建', 'made if it is not there': '不存在则创建', 'Look inside': '查看内容', 'Close the viewer': '关闭查看器', 'Pods use it:': '正在使用它的 Pod：',
});
