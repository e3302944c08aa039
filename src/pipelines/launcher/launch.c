// The first process of a step: it makes the folders of the step's outputs, runs the command, hands signals on to it, and
// writes what the command left in its output files into one report. Without a library, so that it runs in any image.
//
//   launch --report FILE --limit BYTES --metadata FILE [--parameter FILE]... [--artifact PATH]... [--stage PROGRAM]
//          [--send ADDRESS:PORT/PATH --token FILE] [--result BYTES] [--keep PATH --as PATH | --keep-if-there PATH --as PATH]... -- COMMAND [ARGUMENT]...
//
// The report is "kfp 1", and for each output file that is there "P INDEX BYTES" or "M BYTES" and its bytes, each with a
// newline behind it; with --result, the last bytes of the command's output follow, as "R BYTES" (result.inc). It has BYTES bytes at most, and a larger one is sent to PATH of the server ADDRESS (send.inc) and leaves "kfp sent". An output to keep, a file or a folder, is copied behind the
// command (keep.inc). PROGRAM (src/pipelines/stage) brings inputs before the command and takes outputs behind it; its
// variables, KFP_STORE_*, are not the command's. It ends with the command's exit code; 127: there is no such command.
#include "system_calls.inc"

enum { kReportBytesMax = 262144, kPathBytesMax = 4096, kVariablesMax = 8192, kExitOwn = 125, kExitNotRun = 126, kExitNotFound = 127 };

static char report[kReportBytesMax];
static long report_bytes, wanted_bytes, limit = 4096;
static const char* report_path;

static long length(const char* text) {
  long bytes = 0;
  while (text[bytes] != 0) ++bytes;
  return bytes;
}

static int equal(const char* one, const char* other) {
  while (*one != 0 && *one == *other) {
    ++one;
    ++other;
  }
  return *one == *other;
}

static void write_all(long file, const char* bytes, long left) {
  while (left > 0) {
    const long written = call(kWrite, file, (long)bytes, left, 0, 0);
    if (written <= 0) return;
    bytes += written;
    left -= written;
  }
}

static void put(const char* bytes, long count) {
  for (long i = 0; i < count; ++i) {
    if (report_bytes < kReportBytesMax) report[report_bytes++] = bytes[i];
    ++wanted_bytes;
  }
}

static long write_report(void) {
  const long file =
      call(kOpenAt, kAtWorkingFolder, (long)report_path, kWriteOnly | kCreate | kTruncate | kCloseOnExec, 0644, 0);
  if (file < 0) return file;
  write_all(file, report, report_bytes);
  return 0;
}

// An error stands in the log, and alone in the report.
static void say(const char* text) {
  write_all(2, text, length(text));
  put(text, length(text));
}

static char* digits(char* end, unsigned long number) {
  *--end = 0;
  do *--end = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  return end;
}

static void __attribute__((noreturn)) leave(int code) {
  for (;;) call(kExitGroup, code, 0, 0, 0, 0);
}

static void __attribute__((noreturn)) give_up(int code, const char* what, const char* which, long error) {
  char number[24];
  report_bytes = 0;
  say(what);
  say(which);
  if (error != 0) {
    say(": error ");
    say(digits(number + sizeof number, (unsigned long)-error));
  }
  say("\n");
  if (report_path != 0) write_report();
  leave(code);
}

// Makes the folder that holds `path`, and those above it.
static void make_folder_of(const char* path) {
  char part[kPathBytesMax];
  const long bytes = length(path);
  if (bytes >= kPathBytesMax) give_up(kExitOwn, "launch: this path is too long: ", path, 0);
  for (long i = 0; i < bytes; ++i) {
    if (path[i] == '/' && i > 0) {
      part[i] = 0;
      const long made = call(kMakeFolderAt, kAtWorkingFolder, (long)part, 0777, 0, 0);
      // Folders of the image may be closed to this user, and be there all the same.
      if (made < 0 && made != kExists && path[i + 1] != 0) {
        const long there = call(kOpenAt, kAtWorkingFolder, (long)part, kReadOnly | kCloseOnExec, 0, 0);
        if (there < 0 && there != kNoAccess) give_up(kExitOwn, "launch: cannot make the folder ", part, made);
        if (there >= 0) call(kClose, there, 0, 0, 0, 0);
      }
    }
    part[i] = path[i];
  }
}

static const char* variable(char** environment, const char* name) {
  const long bytes = length(name);
  for (; *environment != 0; ++environment) {
    long i = 0;
    while (i < bytes && (*environment)[i] == name[i]) ++i;
    if (i == bytes && (*environment)[i] == '=') return *environment + bytes + 1;
  }
  return 0;
}

static void __attribute__((noreturn)) run(char** command, char** environment) {
  char path[kPathBytesMax];
  const char* name = command[0];
  int has_slash = 0;
  for (const char* at = name; *at != 0; ++at) has_slash |= *at == '/';
  long error = kNoEntry;
  if (has_slash) {
    error = call(kExecve, (long)name, (long)command, (long)environment, 0, 0);
  } else {
    const char* folders = variable(environment, "PATH");
    if (folders == 0) folders = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    while (*folders != 0) {
      long bytes = 0;
      for (; *folders != 0 && *folders != ':'; ++folders)
        if (bytes < kPathBytesMax - 2) path[bytes++] = *folders;
      if (*folders == ':') ++folders;
      if (bytes + length(name) + 2 > kPathBytesMax) continue;
      if (bytes > 0) path[bytes++] = '/';
      for (const char* at = name; *at != 0; ++at) path[bytes++] = *at;
      path[bytes] = 0;
      const long tried = call(kExecve, (long)path, (long)command, (long)environment, 0, 0);
      if (error == kNoEntry) error = tried;
    }
  }
  give_up(error == kNoEntry ? kExitNotFound : kExitNotRun, "launch: cannot run ", name, error);
}

#include "result.inc"

// Runs the command to its end; its exit code, 128 and the number of the signal that ended it.
static int run_to_the_end(char** command, char** environment) {
  // All signals are held back and taken one by one: those that the first process of a container would miss, too.
  const unsigned long all = ~0ul;
  unsigned long before = 0;
  call(kMaskSignals, kBlock, (long)&all, (long)&before, sizeof all, 0);
  const long child = call(kClone, kChildSignal, 0, 0, 0, 0);
  if (child < 0) give_up(kExitOwn, "launch: cannot start ", command[0], child);
  if (child == 0) {
    call(kMaskSignals, kSetMask, (long)&before, 0, sizeof before, 0);
    lead_to_copy();
    run(command, environment);
  }
  leave_copy_alone();
  for (;;) {
    const long signal = call(kWaitForSignal, (long)&all, 0, 0, sizeof all, 0);
    if (signal > 0 && signal != kChildSignal) call(kKill, child, signal, 0, 0, 0);
    for (;;) {
      int status = 0;
      const long ended = call(kWait4, -1, (long)&status, 1 /* without waiting */, 0, 0);
      if (ended <= 0) break;
      if (ended == child) return (status & 0x7f) != 0 ? 128 + (status & 0x7f) : (status >> 8) & 0xff;
    }
  }
}

static long bytes_of_file(const char* path, int into_report) {
  const long file = call(kOpenAt, kAtWorkingFolder, (long)path, kReadOnly | kCloseOnExec, 0, 0);
  if (file < 0) return -1;
  char part[4096];
  long bytes = 0, got;
  while ((got = call(kRead, file, (long)part, sizeof part, 0, 0)) > 0) {
    bytes += got;
    if (into_report) put(part, got);
  }
  call(kClose, file, 0, 0, 0, 0);
  return got < 0 ? -1 : bytes;
}

static void add_file(const char* path, const char* kind, const char* index) {
  char number[24];
  const long bytes = bytes_of_file(path, 0);
  if (bytes < 0) return;
  put(kind, length(kind));
  put(" ", 1);
  if (index != 0) {
    put(index, length(index));
    put(" ", 1);
  }
  const char* text = digits(number + sizeof number, (unsigned long)bytes);
  put(text, length(text));
  put("\n", 1);
  bytes_of_file(path, 1);
  put("\n", 1);
}

#include "keep.inc"
#include "send.inc"

struct options {
  const char *metadata, *stage, *send, *token;
  long result;  // so many bytes of the output are kept
  char **words, **command;  // all of them, and from the command on
};

// Calls `use` for each word behind the option `name`.
static void each(const struct options* options, const char* name, void (*use)(const char* path, unsigned long index)) {
  unsigned long index = 0;
  for (char** at = options->words; at + 1 < options->command; at += 2)
    if (equal(at[0], name)) use(at[1], index++);
}

static void make_folder(const char* path, unsigned long index) {
  (void)index;
  make_folder_of(path);
}

static void add_parameter(const char* path, unsigned long index) {
  char number[24];
  add_file(path, "P", digits(number + sizeof number, index));
}

static void keep_all(const struct options* options) {
  for (char** at = options->words; at + 3 < options->command; at += 2) {
    const int may_be_missing = equal(at[0], "--keep-if-there");
    if ((may_be_missing || equal(at[0], "--keep")) && equal(at[2], "--as")) keep(at[1], at[3], may_be_missing);
  }
}

static long number_in(const char* text) {
  long number = 0;
  for (; *text >= '0' && *text <= '9' && number < kReportBytesMax; ++text) number = number * 10 + (*text - '0');
  return number < kReportBytesMax ? number : kReportBytesMax;
}

static struct options read_options(char** words) {
  struct options options = {0, 0, 0, 0, 0, words, 0};
  for (; *words != 0; words += 2) {
    if (equal(*words, "--")) {
      options.command = words + 1;
      break;
    }
    if (words[1] == 0) break;
    if (equal(*words, "--report")) report_path = words[1];
    if (equal(*words, "--metadata")) options.metadata = words[1];
    if (equal(*words, "--stage")) options.stage = words[1];
    if (equal(*words, "--send")) options.send = words[1];
    if (equal(*words, "--token")) options.token = words[1];
    if (equal(*words, "--result")) options.result = number_in(words[1]);
    if (equal(*words, "--limit")) limit = number_in(words[1]);
  }
  if (options.command == 0 || *options.command == 0 || report_path == 0 || options.metadata == 0)
    give_up(kExitOwn, "usage: launch --report FILE [--limit BYTES] --metadata FILE [--parameter FILE]... [--artifact PATH]... [--stage PROGRAM] -- COMMAND",
            "", 0);
  return options;
}

static void __attribute__((noreturn)) refuse(void) {
  static const char kText[] = "launch: the parameters and metadata of the step are larger than the node keeps, in bytes: ";
  char numbers[64];
  char* at = digits(numbers + sizeof numbers, (unsigned long)limit);
  static const char kMiddle[] = " > ";
  for (long i = sizeof kMiddle - 1; i > 0; --i) *--at = kMiddle[i - 1];
  unsigned long number = (unsigned long)wanted_bytes;
  do *--at = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  give_up(kExitOwn, kText, at, 0);
}

// Moves what lies in other stores than the volume; where that fails, the program has said why.
static void move(const struct options* options, const char* way, char** environment) {
  char* words[] = {(char*)options->stage, (char*)way, (char*)report_path, 0};
  if (options->stage != 0 && run_to_the_end(words, environment) != 0) leave(kExitOwn);
}

// Takes the variables out that are the program's of stores.
static void hide_stores(char** environment) {
  static const char kPrefix[] = "KFP_STORE_";
  char** kept = environment;
  for (; *environment != 0; ++environment) {
    long i = 0;
    while (kPrefix[i] != 0 && (*environment)[i] == kPrefix[i]) ++i;
    if (kPrefix[i] != 0) *kept++ = *environment;
  }
  *kept = 0;
}

void begin(long* stack) {
  const long count = stack[0];
  char** words = (char**)(stack + 1);
  char** environment = words + count + 1;
  const struct options options = read_options(count > 0 ? words + 1 : words);
  const long mask = call(kUmask, 0, 0, 0, 0, 0);
  make_folder_of(options.metadata);
  each(&options, "--parameter", make_folder);
  each(&options, "--artifact", make_folder);
  call(kUmask, mask, 0, 0, 0, 0);
  char* whole[kVariablesMax];
  long variables = 0;
  while (environment[variables] != 0 && variables + 1 < kVariablesMax) {
    whole[variables] = environment[variables];
    ++variables;
  }
  whole[variables] = 0;
  move(&options, "get", whole);
  if (options.stage != 0) hide_stores(environment);
  if (options.result > 0) begin_copy();
  const int code = run_to_the_end(options.command, environment);
  if (options.result > 0) end_copy();
  if (code != 0) leave(code);
  call(kUmask, 0, 0, 0, 0, 0);
  keep_all(&options);
  move(&options, "put", whole);
  put("kfp 1\n", 6);
  each(&options, "--parameter", add_parameter);
  add_file(options.metadata, "M", 0);
  if (options.result > 0) add_result(options.result, options.send != 0 ? kSentBytesMax : limit);
  if (wanted_bytes > limit && options.send != 0) {
    limit = kSentBytesMax;
    if (wanted_bytes <= limit) send_report(options.send, options.token);
  }
  if (wanted_bytes > limit) refuse();
  const long written = write_report();
  if (written < 0) give_up(kExitOwn, "launch: cannot write ", report_path, written);
  leave(0);
}
