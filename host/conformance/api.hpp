// The HTTP client of the conformance checks. A request blocks until its response is complete; watch() blocks until its response begins.
//
// Thread-safety: one thread, which must not belong to an executor.
// Lifetime:      an EventStream must be destroyed before its Api.
// Errors:        connect(): kBadRequest for a configuration that cannot be used. A request without a response is an Answer with code 0.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/net/client.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane::conformance {

inline constexpr std::string_view kJson = "application/json";

struct Answer {
  int code = 0;  // 0: there is no response, and `body` has the reason
  Headers headers;
  std::string body;
  Object object;  // the body, if it is a JSON object

  std::string_view header(std::string_view name) const;
  std::string_view text(std::string_view dotted) const { return get_string_path(object, dotted); }
  bool ok() const noexcept { return code >= 200 && code < 300; }
};

// The events of a watch.
class EventStream {
 public:
  EventStream(Executor& executor, Answer head, std::unique_ptr<HttpAnswer> answer);
  // The head of the response. It has a body only if the code is not 200.
  const Answer& head() const noexcept { return head_; }
  // Waits for the next event and returns it. Nothing: the stream has ended, or the time limit of the watch (30 s) is over.
  std::optional<Object> next();

 private:
  Executor& executor_;
  Answer head_;
  std::unique_ptr<HttpAnswer> answer_;
  std::string rest_;
};

class Api {
 public:
  static Result<std::unique_ptr<Api>> connect(ClientConfig config);
  ~Api();

  Answer send(std::string method, std::string target, std::string body = {}, Headers headers = {});
  Answer get(std::string target, std::string_view accept = kJson) {
    return send("GET", std::move(target), {}, {{"Accept", std::string(accept)}});
  }
  Answer post(std::string target, const Object& object) { return write("POST", std::move(target), object); }
  Answer put(std::string target, const Object& object) { return write("PUT", std::move(target), object); }
  // `type`: the media type without "application/": "merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml".
  Answer patch(std::string target, std::string_view type, std::string body);
  Answer remove(std::string target, std::string body = {});
  EventStream watch(std::string target, std::string_view accept = kJson);

 private:
  Api() = default;
  Answer write(std::string method, std::string target, const Object& object);

  IoLoop loop_{"conformance"};
  LoggedTaskGroup tasks_;
  std::shared_ptr<HttpClient> client_;
};

}  // namespace backplane::conformance
