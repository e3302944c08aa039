/* Brings the inputs of a step out of S3-compatible stores, and its outputs into them: the launcher runs it before and behind the command.
 *
 *   stage get|put REPORT
 *
 * Why it fails stands in the log and in REPORT. KFP_STORE_PLAN has a line for each store and each artifact, its words apart by tabs:
 *
 *   store NUMBER plain|tls path|host HOST PORT REGION   with KFP_STORE_ID_NUMBER and KFP_STORE_KEY_NUMBER, or the variables of AWS
 *   get|put NUMBER BUCKET KEY PATH
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transfer.inc"

enum { kStoresMax = 16, kWordsMax = 8, kExitUsage = 2 };

static struct endpoint stores[kStoresMax];

static int give_up(const char* report, const char* why) {
  char text[1100];
  const int bytes = snprintf(text, sizeof text, "launch: %s\n", why);
  fputs(text, stderr);
  const int file = open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0 && write(file, text, (size_t)bytes) < 0) fputs("launch: the report cannot be written\n", stderr);
  return 1;
}

static const char* variable_of(const char* name, const char* number, const char* otherwise) {
  char full[64];
  snprintf(full, sizeof full, "%s_%s", name, number);
  const char* value = getenv(full);
  return value != NULL ? value : getenv(otherwise);
}

static int add_store(char** words) {
  const int number = atoi(words[1]);
  if (number < 0 || number >= kStoresMax) return -1;
  struct endpoint* store = &stores[number];
  store->tls = strcmp(words[2], "tls") == 0;
  store->bucket_in_host = strcmp(words[3], "host") == 0;
  snprintf(store->host, sizeof store->host, "%s", words[4]);
  snprintf(store->port, sizeof store->port, "%s", words[5]);
  snprintf(store->region, sizeof store->region, "%s", words[6]);
  store->id = variable_of("KFP_STORE_ID", words[1], "AWS_ACCESS_KEY_ID");
  store->secret = variable_of("KFP_STORE_KEY", words[1], "AWS_SECRET_ACCESS_KEY");
  char own[64];
  snprintf(own, sizeof own, "KFP_STORE_ID_%s", words[1]);
  store->token = getenv(own) != NULL ? NULL : getenv("AWS_SESSION_TOKEN");
  return 0;
}

static int split(char* line, char** words) {
  int count = 0;
  while (line != NULL && count < kWordsMax) {
    words[count++] = line;
    line = strchr(line, '\t');
    if (line != NULL) *line++ = 0;
  }
  return count;
}

static int move(char** words) {
  const int number = atoi(words[1]);
  if (number < 0 || number >= kStoresMax || stores[number].host[0] == 0) {
    snprintf(trouble, sizeof trouble, "the store of %s is not known", words[4]);
    return -1;
  }
  if (stores[number].id == NULL || stores[number].secret == NULL) {
    snprintf(trouble, sizeof trouble, "there are no credentials for the bucket %s: neither a Secret of the ConfigMap kfp-launcher nor AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the step", words[2]);
    return -1;
  }
  const struct place place = {&stores[number], words[2], words[3]};
  return strcmp(words[0], "get") == 0 ? fetch(&place, words[4]) : deliver(words[4], &place);
}

int main(int count, char** arguments) {
  const char* given = getenv("KFP_STORE_PLAN");
  if (count != 3 || given == NULL) {
    fputs("usage: stage get|put REPORT, with KFP_STORE_PLAN\n", stderr);
    return kExitUsage;
  }
  char* plan = strdup(given);
  for (char* line = plan; line != NULL && *line != 0;) {
    char* next = strchr(line, '\n');
    if (next != NULL) *next++ = 0;
    char* words[kWordsMax];
    const int bytes = split(line, words);
    if (bytes == 7 && strcmp(words[0], "store") == 0 && add_store(words) != 0) return give_up(arguments[2], "the plan of stores cannot be read");
    if (bytes == 5 && strcmp(words[0], arguments[1]) == 0 && move(words) != 0) return give_up(arguments[2], trouble);
    line = next;
  }
  return 0;
}
