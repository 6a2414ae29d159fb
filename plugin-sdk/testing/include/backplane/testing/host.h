/* A server for the tests of a plugin: C functions. host.hpp is the C++ wrapper.
 *
 * A host is a child process that runs the program `backplane` with --throwaway. The program is that of the installation to which
 * libbackplane-testing belongs, or the one that the environment variable BACKPLANE names. The server has a store in memory, a free port,
 * temporary files, the plugins that are shipped with it, and the plugins under test, which it loads from their .so files. Requests use TLS
 * with an administrator's certificate, so authentication, admission and controllers run as in production. The server ends when the host is
 * stopped or when this process ends, even if the process crashes. A program can have several hosts. The plugin's code runs in the child
 * process; bpt_host_process() returns its id, to which a debugger can attach.
 *
 * The functions need no C++, no Boost and no SDK, so tests of the native tier and of the stable tier use the same library.
 *
 * Thread-safety: a host may be used by any thread; an answer and a watch by one thread at a time.
 * Lifetime:      the owner releases answers and watches. A watch may outlive its host; it has then ended.
 * Errors:        documented at each function. If a request gets no response, the answer has the code 0, and its body is the reason.
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

/* Starts a server and waits until it is ready, at most `milliseconds` (0: 60,000). `plugins` are .so files, `flags` are additional flags of
 * the server. Both lists end with NULL, and may be NULL. Returns NULL if the server has not started, or does not run one of the plugins;
 * `error` then contains the reason, in at most `error_size` bytes including the terminating NUL. */
bpt_host* bpt_host_start(const char* const* plugins, const char* const* flags, uint32_t milliseconds, char* error, size_t error_size);
/* Stops the server, removes its files and releases the host. Returns the exit code of the server: 0 after a regular stop; 128 + the number
 * of the signal if a signal has ended it. A server that has not ended after 90 seconds is killed. Without effect if `host` is NULL. */
int bpt_host_stop(bpt_host* host);
/* Returns the path of the administrator's kubeconfig; valid until bpt_host_stop(). */
const char* bpt_host_kubeconfig(const bpt_host* host);
/* Returns the id of the server's process. */
int bpt_host_process(const bpt_host* host);
/* Returns the log of the server so far, as the body of an answer. */
bpt_answer* bpt_host_log(const bpt_host* host);

/* Sends a request and waits for the whole response, at most 30 seconds. `content_type` and `body` may be NULL. Never
 * returns NULL. */
bpt_answer* bpt_send(bpt_host* host, const char* method, const char* target, const char* content_type, const char* body, size_t size);
/* Waits, with a watch, until `condition` returns a value other than 0 for the object `name` of the collection at `target`
 * ("/apis/example.com/v1/namespaces/default/widgets"). `condition` is called with the current object, and again after each change. If the
 * object does not exist, `condition` receives an answer with the code 404. Returns the answer for which `condition` holds; NULL if it does
 * not hold within `milliseconds`, or if the server does not list the collection. */
bpt_answer* bpt_wait(bpt_host* host, const char* target, const char* name, int (*condition)(void* context, const bpt_answer* object),
                     void* context, uint32_t milliseconds);

/* Returns the status code of the response. */
int bpt_answer_code(const bpt_answer* answer);
/* Returns the body, with a terminating NUL that `size` does not count. Valid until the answer is released. `size` may be NULL. */
const char* bpt_answer_body(const bpt_answer* answer, size_t* size);
/* Returns the member of a JSON body at a JSON pointer ("/spec/size"): a string without quotes, any other value as JSON; NULL if there is no
 * such member. Valid until the answer is released. */
const char* bpt_answer_value(const bpt_answer* answer, const char* pointer);
/* Returns an answer with the code 200 whose body is that member; NULL if there is no such member. */
bpt_answer* bpt_answer_part(const bpt_answer* answer, const char* pointer);
void bpt_answer_release(bpt_answer* answer);

/* Opens a watch at `target` ("…/widgets?resourceVersion=12"; "watch=true" is added). Returns NULL if it fails; `error` then contains the
 * server's reason. */
bpt_watch* bpt_watch_open(bpt_host* host, const char* target, char* error, size_t error_size);
/* Returns the next event ({"type", "object"}) as the body of an answer. Waits at most `milliseconds`. NULL: no event has arrived, or the
 * watch has ended. */
bpt_answer* bpt_watch_next(bpt_watch* watch, uint32_t milliseconds);
/* Returns a value other than 0 if the watch has ended and bpt_watch_next() has returned all its events. */
int bpt_watch_ended(const bpt_watch* watch);
void bpt_watch_close(bpt_watch* watch);

#ifdef __cplusplus
}
#endif
#endif
