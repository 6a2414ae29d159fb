// HTTP calls to a handler of this process with streamed responses: the handler runs concurrently with the reader, and waits when the
// reader does not keep up.
//
// Thread-safety: call() on any executor; the handler runs on the caller's. read() of a response on any executor, and resumes there.
// Lifetime:      the handler and the task group outlive the calls; destroying the response aborts the call.
// Errors:        an exception of the handler is logged and gives code 500; call() on a thread without an executor is kInternalError.
#pragma once

#include <optional>

#include "backplane/core/request.hpp"
#include "backplane/net/client.hpp"
#include "base/task_group.hpp"

namespace backplane {

// `user`: the identity of the calls; RequestContext::user has it before `root` runs.  nullopt: `root` authenticates the calls.
std::shared_ptr<HttpClient> make_local_client(HttpHandler& root, TaskGroup& tasks, std::optional<UserInfo> user = {});

}  // namespace backplane
