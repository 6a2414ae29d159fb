// Kubernetes' verbs over HTTP calls.
#include "backplane/net/client.hpp"
#include "backplane/types/json_reading.hpp"

#include "net/client/answers.hpp"
#include "net/client/paths.hpp"

namespace backplane BACKPLANE_API {
namespace {

using api_client::delete_options_of;
using api_client::path_of;
using api_client::query_of;

constexpr std::string_view kJson = "application/json";

HttpCall call_of(std::string method, std::string target) {
  HttpCall call;
  call.method = std::move(method);
  call.target = std::move(target);
  call.headers.emplace_back("Accept", kJson);
  return call;
}
HttpCall call_of(std::string method, std::string target, std::string_view content_type, std::string body) {
  HttpCall call = call_of(std::move(method), std::move(target));
  call.headers.emplace_back("Content-Type", content_type);
  call.body = std::move(body);
  return call;
}

constexpr std::string_view media_type(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
  }
  return "";
}

EventType event_type(std::string_view name) {
  if (name == "ADDED") return EventType::kAdded;
  if (name == "MODIFIED") return EventType::kModified;
  if (name == "DELETED") return EventType::kDeleted;
  if (name == "BOOKMARK") return EventType::kBookmark;
  return EventType::kError;
}

// Reads a stream of lines; each line is an event as JSON.
class RemoteWatch final : public WatchStream {
 public:
  explicit RemoteWatch(std::unique_ptr<HttpAnswer> answer) : answer_(std::move(answer)) {}

  Task<Result<std::vector<WatchEvent>>> next() override {
    constexpr std::size_t kLongestEvent = std::size_t{32} << 20;
    while (!cancelled_.load()) {
      auto events = take_lines();
      if (!events.ok() || !events->empty()) co_return std::move(events);
      if (rest_.size() > kLongestEvent) co_return internal_error("a watch event is too long");
      auto more = co_await answer_->read();
      if (cancelled_.load()) break;
      if (!more.ok()) co_return std::move(more).status();
      if (more->empty()) break;
      rest_ += *more;
    }
    co_return std::vector<WatchEvent>();
  }
  void cancel() override {
    cancelled_.store(true);
    answer_->cancel();
  }

 private:
  Result<std::vector<WatchEvent>> take_lines() {
    std::vector<WatchEvent> events;
    std::size_t begin = 0;
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      const std::optional<Value> value = read_json(std::string_view(rest_).substr(begin, end - begin));
      begin = end + 1;
      const Object* line = value ? value->if_object() : nullptr;
      const Object* object = line ? get_object(*line, "object") : nullptr;
      if (object == nullptr) return internal_error("a watch event is not JSON");
      WatchEvent event;
      event.type = event_type(get_string(*line, "type"));
      event.object = make_object(*object);
      events.push_back(std::move(event));
    }
    rest_.erase(0, begin);
    return events;
  }

  const std::unique_ptr<HttpAnswer> answer_;
  std::string rest_;
  std::atomic<bool> cancelled_{false};
};

class RemoteSource final : public ListerWatcher {
 public:
  RemoteSource(std::shared_ptr<ApiClient> client, GroupVersionResource resource, std::string ns)
      : client_(std::move(client)), resource_(std::move(resource)), ns_(std::move(ns)) {}

  Task<Result<Page>> list(ListOptions options) override {
    auto listed = co_await client_->list(resource_, ns_, std::move(options));
    if (!listed.ok()) co_return std::move(listed).status();
    Page page;
    page.revision = api_client::revision_of(*listed);
    page.continue_token = meta_text(*listed, "continue");
    const Array* items = get_array(*listed, "items");
    for (const Value& item : items ? *items : Array()) {
      if (const Object* object = item.if_object()) page.items.push_back(make_object(*object));
    }
    co_return page;
  }
  Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) override {
    // With the time limit, the informer reopens the watch, and so detects a server that has disappeared without closing the connection.
    constexpr std::int64_t kSeconds = 300;
    options.timeout_seconds = kSeconds;
    auto opened = co_await client_->watch(resource_, ns_, std::move(options));
    co_return opened;
  }

 private:
  const std::shared_ptr<ApiClient> client_;
  const GroupVersionResource resource_;
  const std::string ns_;
};

}  // namespace

HttpAnswer::~HttpAnswer() = default;
const Headers& HttpAnswer::trailers() const noexcept {
  static const Headers none;
  return none;
}
HttpClient::~HttpClient() = default;
BodySource::~BodySource() = default;

Task<Result<std::string>> read_all(HttpAnswer& answer, std::size_t max_bytes) {
  std::string all;
  while (true) {
    auto more = co_await answer.read();
    if (!more.ok()) co_return std::move(more).status();
    if (more->empty()) co_return all;
    if (all.size() + more->size() > max_bytes) {
      answer.cancel();
      co_return request_entity_too_large("the answer is larger than " + std::to_string(max_bytes) + " bytes");
    }
    if (all.empty()) {
      all = std::move(*more);
    } else {
      all += *more;
    }
  }
}

Task<Result<Object>> ApiClient::request(HttpCall call) {
  auto answer = co_await http_->call(std::move(call));
  if (!answer.ok()) co_return std::move(answer).status();
  auto body = co_await read_all(**answer);
  if (!body.ok()) co_return std::move(body).status();
  const int code = (*answer)->code();
  if (code < 200 || code > 299) co_return api_client::status_of(code, *body);
  std::optional<Value> value = read_json(*body);
  if (!value || !value->is_object()) co_return internal_error("the server's answer is no JSON object");
  co_return std::move(value->get_object());
}

Task<Result<Object>> ApiClient::get(GroupVersionResource resource, std::string ns, std::string name, GetOptions options) {
  ListOptions query;
  query.resource_version = std::move(options.resource_version);
  return request(call_of("GET", path_of(resource, ns, name, "") + query_of(query)));
}

Task<Result<Object>> ApiClient::list(GroupVersionResource resource, std::string ns, ListOptions options) {
  options.watch = false;
  return request(call_of("GET", path_of(resource, ns, "", "") + query_of(options)));
}

Task<Result<Object>> ApiClient::create(GroupVersionResource resource, std::string ns, Object object, WriteOptions options) {
  return request(call_of("POST", path_of(resource, ns, "", "") + query_of(options), kJson, to_json(object)));
}

Task<Result<Object>> ApiClient::update(GroupVersionResource resource, std::string ns, Object object, std::string subresource,
                                       WriteOptions options) {
  const std::string path = path_of(resource, ns, meta_name(object), subresource);
  return request(call_of("PUT", path + query_of(options), kJson, to_json(object)));
}

Task<Result<Object>> ApiClient::patch(GroupVersionResource resource, std::string ns, std::string name, PatchType type, Value patch,
                                      std::string subresource, WriteOptions options) {
  const std::string path = path_of(resource, ns, name, subresource);
  return request(call_of("PATCH", path + query_of(options), media_type(type), to_json(patch)));
}

Task<Result<Object>> ApiClient::remove(GroupVersionResource resource, std::string ns, std::string name, DeleteOptions options) {
  return request(call_of("DELETE", path_of(resource, ns, name, ""), kJson, to_json(delete_options_of(options))));
}

Task<Result<Object>> ApiClient::remove_collection(GroupVersionResource resource, std::string ns, DeleteOptions options, ListOptions list) {
  list.watch = false;
  return request(call_of("DELETE", path_of(resource, ns, "", "") + query_of(list), kJson, to_json(delete_options_of(options))));
}

Task<Result<std::shared_ptr<WatchStream>>> ApiClient::watch(GroupVersionResource resource, std::string ns, ListOptions options) {
  options.watch = true;
  HttpCall call = call_of("GET", path_of(resource, ns, "", "") + query_of(options));
  call.lasting = true;
  auto answer = co_await http_->call(std::move(call));
  if (!answer.ok()) co_return std::move(answer).status();
  if ((*answer)->code() != 200) {
    auto body = co_await read_all(**answer);
    if (!body.ok()) co_return std::move(body).status();
    co_return api_client::status_of((*answer)->code(), *body);
  }
  co_return std::shared_ptr<WatchStream>(std::make_shared<RemoteWatch>(std::move(*answer)));
}

std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<ApiClient> client, GroupVersionResource resource, std::string ns) {
  return std::make_shared<RemoteSource>(std::move(client), std::move(resource), std::move(ns));
}

}  // namespace BACKPLANE_API
