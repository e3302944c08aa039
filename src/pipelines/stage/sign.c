// The text that is signed is built as the documentation of S3 has it: headers in order, the query as it is sent.
#include "sign.inc"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mbedtls/md.h>

enum { kDigest = 32, kBlock = 65536 };

static const mbedtls_md_info_t* sha256(void) { return mbedtls_md_info_from_type(MBEDTLS_MD_SHA256); }

static void hex(const unsigned char digest[kDigest], char out[kDigestText]) {
  for (int i = 0; i < kDigest; ++i) snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

int escape(const char* text, int keep_slash, char* out, size_t room) {
  size_t bytes = 0;
  for (; *text != 0; ++text) {
    const unsigned char one = (unsigned char)*text;
    const int plain = (one >= 'A' && one <= 'Z') || (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || strchr("-._~", one) != NULL ||
                      (keep_slash && one == '/');
    if (bytes + 4 > room) return -1;
    if (plain)
      out[bytes++] = (char)one;
    else
      bytes += (size_t)snprintf(out + bytes, 4, "%%%02X", one);
  }
  out[bytes] = 0;
  return (int)bytes;
}

int digest_of(const struct body* body, char out[kDigestText]) {
  static unsigned char block[kBlock];
  unsigned char digest[kDigest];
  mbedtls_md_context_t context;
  mbedtls_md_init(&context);
  int failed = mbedtls_md_setup(&context, sha256(), 0) | mbedtls_md_starts(&context);
  if (body->file < 0) {
    failed |= mbedtls_md_update(&context, (const unsigned char*)body->text, (size_t)body->bytes);
  } else {
    for (off_t done = 0; done < body->bytes && !failed;) {
      const off_t left = body->bytes - done;
      const ssize_t got = pread(body->file, block, left < kBlock ? (size_t)left : kBlock, body->offset + done);
      if (got <= 0) {
        failed = -1;
        break;
      }
      failed |= mbedtls_md_update(&context, block, (size_t)got);
      done += got;
    }
  }
  failed |= mbedtls_md_finish(&context, digest);
  mbedtls_md_free(&context);
  if (!failed) hex(digest, out);
  return failed ? -1 : 0;
}

static void keyed(unsigned char key[kDigest], const char* text) {
  unsigned char out[kDigest];
  mbedtls_md_hmac(sha256(), key, kDigest, (const unsigned char*)text, strlen(text), out);
  memcpy(key, out, kDigest);
}

int sign(const struct endpoint* at, const char* method, const char* host, const char* path, const char* query, const char* digest, char* out, size_t room) {
  static char text[16384];
  char moment[32], day[16], scope[128], secret[256], signature[kDigestText], token[4096] = "";
  const char* names = at->token != NULL ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token" : "host;x-amz-content-sha256;x-amz-date";
  const time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(moment, sizeof moment, "%Y%m%dT%H%M%SZ", &parts);
  strftime(day, sizeof day, "%Y%m%d", &parts);
  if (at->token != NULL && snprintf(token, sizeof token, "x-amz-security-token:%s\n", at->token) >= (int)sizeof token) return -1;
  int bytes = snprintf(text, sizeof text, "%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n%s\n%s\n%s", method, path, query, host, digest,
                       moment, token, names, digest);
  if (bytes >= (int)sizeof text) return -1;
  const struct body whole = {-1, 0, bytes, text};
  char canonical[kDigestText];
  if (digest_of(&whole, canonical) != 0) return -1;
  snprintf(scope, sizeof scope, "%s/%s/s3/aws4_request", day, at->region);
  snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", moment, scope, canonical);
  if (snprintf(secret, sizeof secret, "AWS4%s", at->secret) >= (int)sizeof secret) return -1;
  unsigned char key[kDigest];
  mbedtls_md_hmac(sha256(), (const unsigned char*)secret, strlen(secret), (const unsigned char*)day, strlen(day), key);
  keyed(key, at->region);
  keyed(key, "s3");
  keyed(key, "aws4_request");
  keyed(key, text);
  hex(key, signature);
  bytes = snprintf(out, room, "x-amz-date: %s\r\nx-amz-content-sha256: %s\r\n%s%s%sAuthorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s\r\n",
                   moment, digest, at->token != NULL ? "x-amz-security-token: " : "", at->token != NULL ? at->token : "", at->token != NULL ? "\r\n" : "",
                   at->id, scope, names, signature);
  return bytes >= (int)room ? -1 : 0;
}
