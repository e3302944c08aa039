// Each request has its connection: a step has few files, and most of them are large.
#include "http.inc"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/ssl.h>

enum { kPatienceSeconds = 30, kConnectMilliseconds = 10000, kBlock = 65536, kHeadMax = 16384 };

struct wire {
  int socket;
  int tls;
  mbedtls_ssl_context ssl;
  char block[kBlock];
  size_t begin, end; /* of what was read and not taken */
};

static struct {
  int ready;
  mbedtls_entropy_context entropy;
  mbedtls_ctr_drbg_context random;
  mbedtls_x509_crt authorities;
  mbedtls_ssl_config config;
} tls;

static int problem(struct answer* answer, const char* what, const char* why) {
  answer->code = 0;
  snprintf(answer->problem, sizeof answer->problem, "%s: %s", what, why);
  return -1;
}

static int tls_problem(struct answer* answer, const char* what, int error) {
  char text[160];
  mbedtls_strerror(error, text, sizeof text);
  return problem(answer, what, text);
}

/* The authorities whose signature is believed: a file that a variable names, or that of the image. */
static int read_authorities(struct answer* answer) {
  static const char* const kFiles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                       "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"};
  const char* named = getenv("AWS_CA_BUNDLE");
  if (named == NULL) named = getenv("SSL_CERT_FILE");
  if (named != NULL) {
    const int read = mbedtls_x509_crt_parse_file(&tls.authorities, named);
    answer->is_final = 1;
    return read < 0 ? tls_problem(answer, named, read) : 0;
  }
  for (size_t i = 0; i < sizeof kFiles / sizeof kFiles[0]; ++i)
    if (access(kFiles[i], R_OK) == 0 && mbedtls_x509_crt_parse_file(&tls.authorities, kFiles[i]) >= 0) return 0;
  answer->is_final = 1;
  return problem(answer, "TLS", "the image has no certificates of authorities; SSL_CERT_FILE of the step may name a file of them");
}

static int make_tls_ready(struct answer* answer) {
  if (tls.ready) return 0;
  mbedtls_entropy_init(&tls.entropy);
  mbedtls_ctr_drbg_init(&tls.random);
  mbedtls_x509_crt_init(&tls.authorities);
  mbedtls_ssl_config_init(&tls.config);
  int error = mbedtls_ctr_drbg_seed(&tls.random, mbedtls_entropy_func, &tls.entropy, NULL, 0);
  if (error == 0)
    error = mbedtls_ssl_config_defaults(&tls.config, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
  if (error != 0) return tls_problem(answer, "TLS", error);
  if (read_authorities(answer) != 0) return -1;
  mbedtls_ssl_conf_authmode(&tls.config, MBEDTLS_SSL_VERIFY_REQUIRED);
  mbedtls_ssl_conf_ca_chain(&tls.config, &tls.authorities, NULL);
  mbedtls_ssl_conf_rng(&tls.config, mbedtls_ctr_drbg_random, &tls.random);
  mbedtls_ssl_conf_min_version(&tls.config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
  tls.ready = 1;
  return 0;
}

static int send_bytes(void* socket, const unsigned char* bytes, size_t count) {
  return (int)send(*(int*)socket, bytes, count, MSG_NOSIGNAL);
}

static int receive_bytes(void* socket, unsigned char* bytes, size_t count) { return (int)recv(*(int*)socket, bytes, count, 0); }

static int connected(const struct addrinfo* to) {
  const int made = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  int error = 0;
  if (connect(made, to->ai_addr, to->ai_addrlen) != 0) {
    struct pollfd ready = {made, POLLOUT, 0};
    socklen_t bytes = sizeof error;
    if (errno != EINPROGRESS)
      error = errno;
    else if (poll(&ready, 1, kConnectMilliseconds) <= 0)
      error = ETIMEDOUT;
    else
      getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &bytes);
  }
  if (error != 0) {
    close(made);
    errno = error;
    return -1;
  }
  const struct timeval patience = {kPatienceSeconds, 0};
  setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  /* From here on, calls wait: for so long. */
  fcntl(made, F_SETFL, 0);
  return made;
}

static int open_wire(struct wire* wire, const struct endpoint* at, struct answer* answer) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  wire->socket = -1;
  wire->tls = 0;
  wire->begin = wire->end = 0;
  const int error = getaddrinfo(at->host, at->port, &hints, &found);
  if (error != 0) return problem(answer, at->host, gai_strerror(error));
  for (struct addrinfo* one = found; one != NULL && wire->socket < 0; one = one->ai_next) wire->socket = connected(one);
  const int why = errno;
  freeaddrinfo(found);
  if (wire->socket < 0) return problem(answer, "it cannot be reached", strerror(why));
  if (!at->tls) return 0;
  if (make_tls_ready(answer) != 0) return -1;
  wire->tls = 1;
  mbedtls_ssl_init(&wire->ssl);
  int failed = mbedtls_ssl_setup(&wire->ssl, &tls.config);
  if (failed == 0) failed = mbedtls_ssl_set_hostname(&wire->ssl, at->host);
  mbedtls_ssl_set_bio(&wire->ssl, &wire->socket, send_bytes, receive_bytes, NULL);
  if (failed == 0) failed = mbedtls_ssl_handshake(&wire->ssl);
  if (failed == 0) return 0;
  char text[256];
  if (failed == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED &&
      mbedtls_x509_crt_verify_info(text, sizeof text, "", mbedtls_ssl_get_verify_result(&wire->ssl)) > 0) {
    text[strcspn(text, "\n")] = 0;
    answer->is_final = 1;
    return problem(answer, "TLS", text);
  }
  return tls_problem(answer, "TLS", failed);
}

static void close_wire(struct wire* wire) {
  if (wire->tls) mbedtls_ssl_free(&wire->ssl);
  if (wire->socket >= 0) close(wire->socket);
}

static int send_all(struct wire* wire, const char* bytes, size_t left) {
  while (left > 0) {
    const int sent = wire->tls ? mbedtls_ssl_write(&wire->ssl, (const unsigned char*)bytes, left) : send_bytes(&wire->socket, (const unsigned char*)bytes, left);
    if (sent <= 0) return -1;
    bytes += sent;
    left -= (size_t)sent;
  }
  return 0;
}

static int send_body(struct wire* wire, const struct body* body) {
  if (body->file < 0) return send_all(wire, body->text, (size_t)body->bytes);
  static char block[kBlock];
  for (off_t done = 0; done < body->bytes;) {
    const off_t left = body->bytes - done;
    const ssize_t got = pread(body->file, block, left < kBlock ? (size_t)left : kBlock, body->offset + done);
    if (got <= 0 || send_all(wire, block, (size_t)got) != 0) return -1;
    done += got;
  }
  return 0;
}

/* More bytes into the block; 0: the other side has closed, or is silent. */
static size_t fill(struct wire* wire) {
  if (wire->begin < wire->end) return wire->end - wire->begin;
  const int got = wire->tls ? mbedtls_ssl_read(&wire->ssl, (unsigned char*)wire->block, kBlock) : receive_bytes(&wire->socket, (unsigned char*)wire->block, kBlock);
  wire->begin = 0;
  wire->end = got > 0 ? (size_t)got : 0;
  return wire->end;
}

/* A line without its end; -1: there is none. */
static int read_line(struct wire* wire, char* line, size_t max) {
  size_t bytes = 0;
  while (fill(wire) > 0) {
    const char one = wire->block[wire->begin++];
    if (one == '\n') {
      if (bytes > 0 && line[bytes - 1] == '\r') --bytes;
      line[bytes] = 0;
      return 0;
    }
    if (bytes + 1 >= max) return -1;
    line[bytes++] = one;
  }
  return -1;
}

struct receiver {
  struct answer* answer;
  sink take;
  void* to;
  size_t kept; /* of an error's body */
};

static int give(struct receiver* receiver, const char* bytes, size_t count) {
  if (receiver->answer->code / 100 == 2) return receiver->take == NULL ? 0 : receiver->take(receiver->to, bytes, count);
  const size_t room = sizeof receiver->answer->problem - 1 - receiver->kept;
  if (count > room) count = room;
  memcpy(receiver->answer->problem + receiver->kept, bytes, count);
  receiver->kept += count;
  receiver->answer->problem[receiver->kept] = 0;
  return 0;
}

static int read_bytes(struct wire* wire, struct receiver* receiver, unsigned long long left) {
  while (left > 0) {
    size_t count = fill(wire);
    if (count == 0) return -1;
    if (count > left) count = (size_t)left;
    if (give(receiver, wire->block + wire->begin, count) != 0) return 1;
    wire->begin += count;
    left -= count;
  }
  return 0;
}

static int read_chunks(struct wire* wire, struct receiver* receiver) {
  char line[256];
  for (;;) {
    if (read_line(wire, line, sizeof line) != 0) return -1;
    const unsigned long long bytes = strtoull(line, NULL, 16);
    if (bytes == 0) return 0;
    const int read = read_bytes(wire, receiver, bytes);
    if (read != 0) return read;
    if (read_line(wire, line, sizeof line) != 0) return -1;
  }
}

static const char* value_of(const char* line, const char* name) {
  const size_t bytes = strlen(name);
  if (strncasecmp(line, name, bytes) != 0 || line[bytes] != ':') return NULL;
  line += bytes + 1;
  while (*line == ' ') ++line;
  return line;
}

static void read_answer(struct wire* wire, const char* method, struct answer* answer, sink take, void* to) {
  static char line[kHeadMax];
  struct receiver receiver = {answer, take, to, 0};
  unsigned long long bytes = 0;
  int has_bytes = 0, in_chunks = 0;
  do {
    if (read_line(wire, line, sizeof line) != 0 || strncmp(line, "HTTP/1.", 7) != 0 || strlen(line) < 12) {
      problem(answer, "it gives no answer", "the connection was closed, or nothing came for 30 s");
      return;
    }
    answer->code = atoi(line + 9);
    for (;;) {
      if (read_line(wire, line, sizeof line) != 0) {
        problem(answer, "it gives no answer", "the connection was closed within the headers");
        return;
      }
      if (line[0] == 0) break;
      const char* value = value_of(line, "content-length");
      if (value != NULL) {
        bytes = strtoull(value, NULL, 10);
        has_bytes = 1;
      }
      value = value_of(line, "transfer-encoding");
      if (value != NULL && strncasecmp(value, "chunked", 7) == 0) in_chunks = 1;
      value = value_of(line, "etag");
      if (value != NULL) snprintf(answer->etag, sizeof answer->etag, "%s", value);
    }
  } while (answer->code == 100);
  if (strcmp(method, "HEAD") == 0 || answer->code == 204) return;
  int read = 0;
  if (in_chunks) {
    read = read_chunks(wire, &receiver);
  } else if (has_bytes) {
    read = read_bytes(wire, &receiver, bytes);
  } else {
    while (read == 0 && fill(wire) > 0) read = read_bytes(wire, &receiver, wire->end - wire->begin);
  }
  if (read < 0) answer->is_cut = 1;
}

void exchange(const struct endpoint* at, const struct request* request, struct answer* answer, sink take, void* to) {
  static struct wire wire;
  static char head[kHeadMax];
  memset(answer, 0, sizeof *answer);
  const int bytes = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %lld\r\n%s\r\n", request->method,
                             request->target, request->host, request->has_body ? (long long)request->body.bytes : 0LL, request->headers);
  if (bytes >= (int)sizeof head) {
    problem(answer, "the key", "it is too long");
    return;
  }
  if (open_wire(&wire, at, answer) == 0) {
    const int is_sent = send_all(&wire, head, (size_t)bytes) == 0 && (!request->has_body || send_body(&wire, &request->body) == 0);
    /* A server that refuses a body may say why, and close before it has read it. */
    read_answer(&wire, request->method, answer, take, to);
    if (!is_sent && answer->code / 100 == 2) problem(answer, "it took a part of the file only", "the connection was closed");
  }
  close_wire(&wire);
}
