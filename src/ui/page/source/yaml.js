// JSON as YAML, as kubectl prints it: block style, quotes only where a plain word would be read as something else.

const kSpecial = /^(|~|null|true|false|yes|no|on|off|y|n|[-+]?[0-9].*|[-+]?\.[0-9].*|[-+]?\.(inf|nan))$/i;
const kUnsafe = /^[\s\-?:,[\]{}#&*!|>'"%@`]|[\u0000-\u001f\u007f-\u009f]|: |:$| #|\s$/;

function scalar(value, indent) {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (value.includes('\n') && !/[\u0000-\u0008\u000b-\u001f]/.test(value) && !/^\s/.test(value) && !/\s$/.test(value.replace(/\n$/, ''))) {
    const lines = value.replace(/\n$/, '').split('\n');
    return `|${value.endsWith('\n') ? '' : '-'}\n${lines.map((line) => (line ? ' '.repeat(indent) + line : '')).join('\n')}`;
  }
  return kSpecial.test(value) || kUnsafe.test(value) ? JSON.stringify(value) : value;
}

export function yaml(value, indent = 0) {
  const pad = ' '.repeat(indent);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return value
      .map((item) => {
        if (item === null || typeof item !== 'object') return `${pad}- ${scalar(item, indent + 2)}`;
        const text = yaml(item, indent + 2);
        return text === '[]' || text === '{}' ? `${pad}- ${text}` : `${pad}- ${text.slice(indent + 2)}`;
      })
      .join('\n');
  }
  if (value !== null && typeof value === 'object') {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    if (keys.length === 0) return '{}';
    return keys
      .map((key) => {
        const item = value[key];
        const name = scalar(key, 0);
        if (item === null || typeof item !== 'object') return `${pad}${name}: ${scalar(item, indent + 2)}`;
        const inner = yaml(item, Array.isArray(item) ? indent : indent + 2);
        return inner === '[]' || inner === '{}' ? `${pad}${name}: ${inner}` : `${pad}${name}:\n${inner}`;
      })
      .join('\n');
  }
  return pad + scalar(value, indent + 2);
}
