/* A server for the tests of a plugin: C functions. host.hpp has a C++ wrapper.
 *
 * A host is a child process: the `backplane` of the installation that libbackplane-testing belongs to (or of the environment variable
 * BACKPLANE), started with --throwaway. It has a store in memory, a free port, temporary files, the plugins that are shipped with the
 * server, and the plugins under test, loaded from their .so files. Requests go over TLS with an administrator's certificate, so
 * authentication, admission and controllers run as in service. The server ends with the host or with this process, however it ends. A
 * program can have several hosts. The plugin's code runs in the child: a debugger of the test attaches to it with `bpt_host_process`.
 *
 * The functions need no C++, no Boost and no SDK: a test of the native tier and one of the stable tier use the same library.
 *
 * Thread-safety: a host from any thread; an answer and a watch from one thread at a time.
 * Lifetime:      answers and watches are released by their owner; a watch may outlive its host, and has then ended.
 * Errors:        listed at each function. A request without a response gives an answer with the code 0, whose body is the reason.
 */
#ifndef BACKPLANE_TESTING_HOST_H
#define BACKPLANE_TESTING_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bpt_host bpt_host;
typedef struct bpt_answer bpt_answer;
typedef struct bpt_watch bpt_watch;

/* Starts a server and waits until it serves, at most `milliseconds` (0: 60,000). `plugins` are .so files, `flags` are further flags of the
 * server; both end with NULL, and may be NULL. NULL: the server has not started, or does not run one of the plugins; `error` has the
 * reason, of at most `error_size` bytes with the terminator. */
bpt_host* bpt_host_start(const char* const* plugins, const char* const* flags, uint32_t milliseconds, char* error, size_t error_size);
/* Stops the server and removes its files; the host is released. The exit code: 0 after an ordinary stop, 128 and the number of the signal
 * if one has ended it. A server that has not ended after 90 seconds is killed. NULL: no effect. */
int bpt_host_stop(bpt_host* host);
/* The path of the administrator's kubeconfig; valid until bpt_host_stop(). */
const char* bpt_host_kubeconfig(const bpt_host* host);
/* The id of the server's process. */
int bpt_host_process(const bpt_host* host);
/* What the server has logged so far, as the body of an answer. */
bpt_answer* bpt_host_log(const bpt_host* host);

/* Sends a request and waits for the whole response, at most 30 seconds. `content_type` and `body` may be NULL. Never NULL. */
bpt_answer* bpt_send(bpt_host* host, const char* method, const char* target, const char* content_type, const char* body, size_t size);
/* Waits until `condition` returns other than 0 for the object `name` of the collection at `target`
 * ("/apis/example.com/v1/namespaces/default/widgets"), by a watch: it is called with the object as it is, and after each change; while
 * there is no object, with an answer of the code 404. The answer of its last call: condition met. NULL: not within `milliseconds`, or the
 * server does not list the collection. */
bpt_answer* bpt_wait(bpt_host* host, const char* target, const char* name, int (*condition)(void* context, const bpt_answer* object),
                     void* context, uint32_t milliseconds);

/* The status code of the response. */
int bpt_answer_code(const bpt_answer* answer);
/* The body, with a terminating 0 that `size` does not count. Valid until the answer is released. `size` may be NULL. */
const char* bpt_answer_body(const bpt_answer* answer, size_t* size);
/* The member of a JSON body at a JSON pointer ("/spec/size"): a text without quotes, any other value as JSON. NULL: there is none. Valid
 * until the answer is released. */
const char* bpt_answer_value(const bpt_answer* answer, const char* pointer);
/* The same member as an answer of code 200 whose body it is. NULL: there is none. */
bpt_answer* bpt_answer_part(const bpt_answer* answer, const char* pointer);
void bpt_answer_release(bpt_answer* answer);

/* Opens a watch at `target` ("…/widgets?resourceVersion=12"; "watch=true" is added). NULL: `error` has the server's reason. */
bpt_watch* bpt_watch_open(bpt_host* host, const char* target, char* error, size_t error_size);
/* The next event ({"type", "object"}) as the body of an answer; waits at most `milliseconds`. NULL: none has come, or the watch has
 * ended. */
bpt_answer* bpt_watch_next(bpt_watch* watch, uint32_t milliseconds);
/* Other than 0: the watch has ended, and bpt_watch_next() has returned its events. */
int bpt_watch_ended(const bpt_watch* watch);
void bpt_watch_close(bpt_watch* watch);

#ifdef __cplusplus
}
#endif
#endif
