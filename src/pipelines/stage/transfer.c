// A large file goes in parts, so that a cut costs one of them.
#include "transfer.inc"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sign.inc"

enum { kAwaySeconds = 120, kListMax = 4 << 20, kDepthMax = 32, kPartsMax = 10000, kPathMax = 4096 };
static const off_t kPart = 64 << 20;

char trouble[1024];

struct call {
  const char* method;
  const char* query; /* as it is sent and signed; may be empty */
  struct body body;
  int has_body;
};

static const struct body kNoBody = {-1, 0, 0, ""};

/* The text between two tags of the document, or an empty one. */
static void between(const char* text, const char* tag, char* out, size_t room) {
  char open[64], close[64];
  snprintf(open, sizeof open, "<%s>", tag);
  snprintf(close, sizeof close, "</%s>", tag);
  const char* begin = strstr(text, open);
  const char* end = begin == NULL ? NULL : strstr(begin, close);
  size_t bytes = 0;
  if (end != NULL) {
    begin += strlen(open);
    bytes = (size_t)(end - begin) < room - 1 ? (size_t)(end - begin) : room - 1;
    memcpy(out, begin, bytes);
  }
  out[bytes] = 0;
}

static int failed(const char* what, const struct place* at, const struct answer* answer) {
  char code[64], message[256], number[24] = "";
  between(answer->problem, "Code", code, sizeof code);
  between(answer->problem, "Message", message, sizeof message);
  if (answer->code != 0) snprintf(number, sizeof number, "%d ", answer->code);
  const int in_words = code[0] != 0;
  snprintf(trouble, sizeof trouble, "cannot %s %s://%s:%s/%s/%s: %s%s%s%s", what, at->store->tls ? "https" : "http", at->store->host, at->store->port,
           at->bucket, at->key, number, in_words ? code : answer->problem, in_words && message[0] ? ": " : "", in_words ? message : "");
  for (char* one = trouble; *one != 0; ++one)
    if ((unsigned char)*one < ' ') *one = ' ';
  return -1;
}

static int failed_here(const char* what, const char* path) {
  snprintf(trouble, sizeof trouble, "cannot %s %s: %s", what, path, strerror(errno));
  return -1;
}

static int is_away(const struct answer* answer) {
  const int code = answer->code;
  return code == 0 || answer->is_cut || code == 429 || code == 408 || (code >= 500 && code != 501 && code != 507);
}

/* `restart`: takes back what an answer that was cut has given. */
static void ask(const struct place* at, const struct call* call, struct answer* answer, sink take, void* to, void (*restart)(void*)) {
  static char target[3 * kKeyMax + 2048], path[3 * kKeyMax + 1024], host[512], headers[8192];
  char digest[kDigestText], escaped[3 * kKeyMax + 1], bucket[256];
  memset(answer, 0, sizeof *answer);
  snprintf(answer->problem, sizeof answer->problem, "the key, or the credentials, are too long, or the file cannot be read");
  if (escape(at->key, 1, escaped, sizeof escaped) < 0 || escape(at->bucket, 0, bucket, sizeof bucket) < 0) return;
  const int standard = strcmp(at->store->port, at->store->tls ? "443" : "80") == 0;
  snprintf(host, sizeof host, "%s%s%s%s%s", at->store->bucket_in_host ? at->bucket : "", at->store->bucket_in_host ? "." : "", at->store->host,
           standard ? "" : ":", standard ? "" : at->store->port);
  if (at->store->bucket_in_host)
    snprintf(path, sizeof path, "/%s", escaped);
  else
    snprintf(path, sizeof path, "/%s%s%s", bucket, escaped[0] ? "/" : "", escaped);
  snprintf(target, sizeof target, "%s%s%s", path, call->query[0] ? "?" : "", call->query);
  struct endpoint reached = *at->store;
  if (reached.bucket_in_host) snprintf(reached.host, sizeof reached.host, "%.60s.%.190s", at->bucket, at->store->host);
  if (digest_of(call->has_body ? &call->body : &kNoBody, digest) != 0) return;
  const struct request request = {call->method, host, target, headers, call->body, call->has_body};
  const time_t begin = time(NULL);
  struct timespec pause = {0, 200000000};
  for (;;) {
    if (sign(at->store, call->method, host, path, call->query, digest, headers, sizeof headers) != 0) return;
    exchange(&reached, &request, answer, take, to);
    if (answer->is_cut && answer->code / 100 == 2) snprintf(answer->problem, sizeof answer->problem, "the answer was cut off");
    if (!is_away(answer) || answer->is_final || time(NULL) - begin >= kAwaySeconds) return;
    if (restart != NULL) restart(to);
    nanosleep(&pause, NULL);
    const long doubled = pause.tv_nsec * 2 + (long)pause.tv_sec * 2000000000L;
    if (pause.tv_sec < 4) pause = (struct timespec){doubled / 1000000000L, doubled % 1000000000L};
  }
}

int make_folders_of(const char* path) {
  char part[kPathMax];
  if (strlen(path) >= sizeof part) {
    errno = ENAMETOOLONG;
    return failed_here("make the folder of", path);
  }
  for (size_t i = 0; path[i] != 0; ++i) {
    if (path[i] == '/' && i > 0) {
      part[i] = 0;
      if (mkdir(part, 0777) != 0 && errno != EEXIST && access(part, F_OK) != 0) return failed_here("make the folder", part);
    }
    part[i] = path[i];
  }
  return 0;
}

/* Objects to files. */

static int to_file(void* to, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(*(int*)to, bytes, count);
    if (written <= 0) return -1;
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

static void begin_file_again(void* to) {
  if (ftruncate(*(int*)to, 0) == 0) lseek(*(int*)to, 0, SEEK_SET);
}

/* 1: there is no such object. */
static int fetch_object(const struct place* from, const char* path) {
  const struct call call = {"GET", "", kNoBody, 0};
  struct answer answer;
  if (make_folders_of(path) != 0) return -1;
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno == EISDIR ? 1 : failed_here("write", path);
  ask(from, &call, &answer, to_file, &file, begin_file_again);
  const int full = close(file) != 0 || errno == ENOSPC;
  if (answer.code / 100 == 2 && !answer.is_cut) {
    if (!full) return 0;
    errno = ENOSPC;
    return failed_here("write", path);
  }
  unlink(path);
  if (answer.code == 404 && strstr(answer.problem, "NoSuchBucket") == NULL) return 1;
  return failed("get", from, &answer);
}

struct text {
  char* bytes;
  size_t count;
};

static int to_text(void* to, const char* bytes, size_t count) {
  struct text* text = to;
  if (text->count + count >= kListMax) return -1;
  memcpy(text->bytes + text->count, bytes, count);
  text->count += count;
  text->bytes[text->count] = 0;
  return 0;
}

static void begin_text_again(void* to) { ((struct text*)to)->count = 0; }

static void unescape(char* text) {
  static const struct {
    const char* name;
    char letter;
  } kNames[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}, {"&#34;", '"'}};
  char* out = text;
  while (*text != 0) {
    size_t i = 0;
    while (i < sizeof kNames / sizeof kNames[0] && strncmp(text, kNames[i].name, strlen(kNames[i].name)) != 0) ++i;
    if (i < sizeof kNames / sizeof kNames[0]) {
      *out++ = kNames[i].letter;
      text += strlen(kNames[i].name);
    } else {
      *out++ = *text++;
    }
  }
  *out = 0;
}

static int leads_out(const char* path) {
  for (const char* at = path; at != NULL; at = strchr(at, '/')) {
    if (*at == '/') ++at;
    if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == 0)) return 1;
  }
  return 0;
}

/* The files whose keys stand in one page of a list. -1: no. */
static int fetch_listed(const struct place* from, char* page, const char* prefix, const char* path, long* count) {
  for (char* at = page; (at = strstr(at, "<Key>")) != NULL;) {
    char* end = strstr(at, "</Key>");
    if (end == NULL) break;
    char key[kKeyMax + 1], file[kPathMax];
    between(at, "Key", key, sizeof key);
    unescape(key);
    at = end;
    const size_t bytes = strlen(prefix);
    if (strncmp(key, prefix, bytes) != 0 || key[bytes] == 0 || key[strlen(key) - 1] == '/') continue;
    if (leads_out(key + bytes) || snprintf(file, sizeof file, "%s/%s", path, key + bytes) >= (int)sizeof file) {
      snprintf(trouble, sizeof trouble, "the object %s leads out of the folder %s", key, path);
      return -1;
    }
    const struct place one = {from->store, from->bucket, key};
    const int fetched = fetch_object(&one, file);
    if (fetched < 0) return -1;
    *count += fetched == 0;
  }
  return 0;
}

int fetch(const struct place* from, const char* path) {
  const int fetched = from->key[0] == 0 || from->key[strlen(from->key) - 1] == '/' ? 1 : fetch_object(from, path);
  if (fetched != 1) return fetched;
  static char query[8192];
  char prefix[kKeyMax + 2], escaped[3 * kKeyMax + 8], token[2048] = "";
  const int slash = from->key[0] != 0 && from->key[strlen(from->key) - 1] != '/';
  if (snprintf(prefix, sizeof prefix, "%s%s", from->key, slash ? "/" : "") >= (int)sizeof prefix || escape(prefix, 0, escaped, sizeof escaped) < 0) {
    snprintf(trouble, sizeof trouble, "the key of %s is too long", path);
    return -1;
  }
  struct text page = {malloc(kListMax), 0};
  if (page.bytes == NULL) return failed_here("list", path);
  long count = 0;
  int result = 0;
  do {
    char sent[3 * 1024 + 1] = "";
    struct answer answer;
    if (token[0] != 0 && escape(token, 0, sent, sizeof sent) < 0) break;
    snprintf(query, sizeof query, "%s%s%slist-type=2&prefix=%s", sent[0] ? "continuation-token=" : "", sent, sent[0] ? "&" : "", escaped);
    const struct call call = {"GET", query, kNoBody, 0};
    const struct place bucket = {from->store, from->bucket, ""};
    page.count = 0;
    page.bytes[0] = 0;
    ask(&bucket, &call, &answer, to_text, &page, begin_text_again);
    if (answer.code / 100 != 2 || answer.is_cut) {
      result = failed("list", from, &answer);
      break;
    }
    between(page.bytes, "NextContinuationToken", token, sizeof token);
    unescape(token);
    result = fetch_listed(from, page.bytes, prefix, path, &count);
  } while (result == 0 && token[0] != 0);
  free(page.bytes);
  if (result != 0 || count > 0) return result;
  const struct answer none = {.code = 404, .problem = "there is no such object, and none below it"};
  return failed("get", from, &none);
}

/* Files to objects. */

static void end_parts(const struct place* to, const char* id) {
  static char query[3 * kKeyMax + 64];
  struct answer answer;
  snprintf(query, sizeof query, "uploadId=%s", id);
  const struct call call = {"DELETE", query, kNoBody, 0};
  ask(to, &call, &answer, NULL, NULL, NULL);
}

static int put_parts(int file, off_t bytes, const struct place* to, const char* id, struct text* list) {
  static char query[3 * kKeyMax + 64];
  struct answer answer;
  list->count = (size_t)sprintf(list->bytes, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
  for (int part = 1; (off_t)(part - 1) * kPart < bytes; ++part) {
    const off_t begin = (off_t)(part - 1) * kPart, left = bytes - begin;
    snprintf(query, sizeof query, "partNumber=%d&uploadId=%s", part, id);
    const struct call call = {"PUT", query, {file, begin, left < kPart ? left : kPart, NULL}, 1};
    ask(to, &call, &answer, NULL, NULL, NULL);
    if (answer.code / 100 != 2) return failed("put", to, &answer);
    list->count += (size_t)sprintf(list->bytes + list->count, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>", part, answer.etag);
  }
  list->count += (size_t)sprintf(list->bytes + list->count, "</CompleteMultipartUpload>");
  snprintf(query, sizeof query, "uploadId=%s", id);
  const struct call call = {"POST", query, {-1, 0, (off_t)list->count, list->bytes}, 1};
  struct text said = {list->bytes + list->count + 1, 0};
  ask(to, &call, &answer, to_text, &said, begin_text_again);
  /* This answer may be an error under the code 200. */
  if (answer.code / 100 == 2 && strstr(said.bytes, "<Error>") != NULL) snprintf(answer.problem, sizeof answer.problem, "%s", strstr(said.bytes, "<Error>"));
  return answer.code / 100 == 2 && answer.problem[0] == 0 ? 0 : failed("put", to, &answer);
}

static int put_large(int file, off_t bytes, const struct place* to) {
  char id[kKeyMax], escaped[3 * kKeyMax + 1];
  struct answer answer;
  struct text text = {calloc(1, 2 * kListMax), 0};
  if (text.bytes == NULL) return failed_here("put", to->key);
  const struct call call = {"POST", "uploads=", kNoBody, 0};
  ask(to, &call, &answer, to_text, &text, begin_text_again);
  between(text.bytes, "UploadId", id, sizeof id);
  int result = -1;
  if (answer.code / 100 != 2 || id[0] == 0 || escape(id, 0, escaped, sizeof escaped) < 0) {
    result = failed("put", to, &answer);
  } else {
    result = put_parts(file, bytes, to, escaped, &text);
    if (result != 0) end_parts(to, escaped);
  }
  free(text.bytes);
  return result;
}

static int put_file(const char* path, off_t bytes, const struct place* to) {
  if (bytes > kPart * kPartsMax) {
    errno = EFBIG;
    return failed_here("put", path);
  }
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed_here("read", path);
  int result = 0;
  if (bytes > kPart) {
    result = put_large(file, bytes, to);
  } else {
    const struct call call = {"PUT", "", {file, 0, bytes, NULL}, 1};
    struct answer answer;
    ask(to, &call, &answer, NULL, NULL, NULL);
    if (answer.code / 100 != 2) result = failed("put", to, &answer);
  }
  close(file);
  return result;
}

static int put_tree(const char* path, const struct place* to, int depth) {
  struct stat about;
  if (stat(path, &about) != 0) return errno == ENOENT ? 0 : failed_here("read", path);
  if (S_ISREG(about.st_mode)) return put_file(path, about.st_size, to);
  if (!S_ISDIR(about.st_mode)) return 0;
  if (depth > kDepthMax) {
    errno = ELOOP;
    return failed_here("put", path);
  }
  DIR* folder = opendir(path);
  if (folder == NULL) return failed_here("read", path);
  int result = 0;
  const struct dirent* one;
  while (result == 0 && (one = readdir(folder)) != NULL) {
    char file[kPathMax], key[kKeyMax + 1];
    if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0) continue;
    if (snprintf(file, sizeof file, "%s/%s", path, one->d_name) >= (int)sizeof file ||
        snprintf(key, sizeof key, "%s/%s", to->key, one->d_name) >= (int)sizeof key) {
      errno = ENAMETOOLONG;
      result = failed_here("put", path);
      break;
    }
    const struct place below = {to->store, to->bucket, key};
    result = put_tree(file, &below, depth + 1);
  }
  closedir(folder);
  return result;
}

int deliver(const char* path, const struct place* to) { return put_tree(path, to, 0); }
