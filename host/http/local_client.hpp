// An HttpClient that calls a handler of this process. Responses are streamed: the handler and the reader of the response run concurrently,
// and the handler waits if the reader is slower.
//
// Thread-safety: call() may be called on any executor; the handler runs on the caller's executor. read() may be called on any executor, and
//                resumes there.
// Lifetime:      the handler and the task group outlive the calls. Destroying the response aborts the call.
// Errors:        an exception of the handler is logged. The call then has code 500, or read() fails if the response has begun. call() on a
//                thread without an executor returns kInternalError.
#pragma once

#include <optional>

#include "backplane/core/request.hpp"
#include "backplane/net/client.hpp"
#include "base/task_group.hpp"

namespace backplane {

// `user`: the user of the calls; RequestContext::user is set to it before `root` runs. nullopt: `root` authenticates the calls.
std::shared_ptr<HttpClient> make_local_client(HttpHandler& root, TaskGroup& tasks, std::optional<UserInfo> user = {});

}  // namespace backplane
