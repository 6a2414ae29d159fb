// Calls of the server by plugins of the stable tier: the caller's thread waits while a task of the plugin makes the call.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {
namespace {

constexpr std::chrono::seconds kCallTimeout{30};

// One answer, for which one thread waits.
class Answer {
 public:
  void set(Result<std::string> result) {
    const std::lock_guard lock(mutex_);
    if (result_) return;
    result_ = std::move(result);
    ready_.notify_all();
  }
  Result<std::string> wait() {
    std::unique_lock lock(mutex_);
    if (!ready_.wait_for(lock, kCallTimeout, [this] { return result_.has_value(); })) {
      return timeout("the server did not answer within " + std::to_string(kCallTimeout.count()) + " s", 0);
    }
    return std::move(*result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::optional<Result<std::string>> result_;
};

// Held by the task. A task that is destroyed before it has begun sets the answer, too.
class AnswerSource {
 public:
  explicit AnswerSource(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  AnswerSource(AnswerSource&&) = default;
  ~AnswerSource() {
    if (answer_) answer_->set(service_unavailable("the server is stopping"));
  }
  void set(Result<std::string> result) { answer_->set(std::move(result)); }

 private:
  std::shared_ptr<Answer> answer_;
};

std::string percent_encoded(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || ((byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z') || c == '-' || c == '.' || c == '_';
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4U], kHex[byte & 0xFU]};
    }
  }
  return out;
}

std::string target_of(const bp_resource& resource, bp_str ns, std::string_view name = {}, std::string_view subresource = {}) {
  std::string target = GroupVersion{text(resource.group), text(resource.version)}.path();
  if (ns.size != 0) target += "/namespaces/" + percent_encoded(view(ns));
  target += "/" + percent_encoded(view(resource.resource));
  if (!name.empty()) target += "/" + percent_encoded(name);
  if (!subresource.empty()) target += "/" + percent_encoded(subresource);
  return target;
}

Status error_of(int code, const std::string& body) {
  bp_error error{};
  error.code = code;
  const auto status = object_of(body);
  const std::string_view reason = status ? get_string(*status, "reason") : std::string_view();
  std::memcpy(error.reason, reason.data(), std::min(reason.size(), sizeof(error.reason) - 1));
  Status out = status_of(error);
  if (status) out.set_message(std::string(get_string(*status, "message")));
  return out;
}

Task<void> make_call(std::shared_ptr<HttpClient> client, HttpCall call, AnswerSource answer) {
  call.deadline = std::chrono::steady_clock::now() + kCallTimeout;
  auto calling = client->call(std::move(call));
  auto head = co_await std::move(calling);
  if (!head.ok()) {
    answer.set(std::move(head).status());
    co_return;
  }
  auto reading = read_all(**head);
  auto body = co_await std::move(reading);
  constexpr int kFirstError = 400;
  if (body.ok() && (*head)->code() >= kFirstError) {
    answer.set(error_of((*head)->code(), *body));
  } else {
    answer.set(std::move(body));
  }
}

bp_text* call_server(bp_context* context, HttpCall call, bp_error* error) {
  bp_text* out = nullptr;
  guarded(error, [&]() -> Status {
    const CallPlace place = call_place();
    if (place == CallPlace::kRequest || place == CallPlace::kLifecycle) {
      return Status(Reason::kInternalError, "this callback must not wait for the server (see client.h)");
    }
    call.headers.emplace_back("Accept", "application/json");
    const auto answer = std::make_shared<Answer>();
    context->host->spawn("client-call", make_call(context->client, std::move(call), AnswerSource(answer)));
    auto result = answer->wait();
    if (!result.ok()) return std::move(result).status();
    out = give(std::move(*result));
    return {};
  });
  return out;
}

HttpCall call_with(std::string method, std::string target, std::string_view content_type = {}, std::string body = {}) {
  HttpCall call;
  call.method = std::move(method);
  call.target = std::move(target);
  if (!content_type.empty()) call.headers.emplace_back("Content-Type", content_type);
  call.body = std::move(body);
  return call;
}

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kPatchTypes[] = {"application/merge-patch+json", "application/json-patch+json", "application/merge-patch+json",
                                            "application/strategic-merge-patch+json"};

bp_text* get_object_of(bp_context* context, const bp_resource* resource, bp_str ns, bp_str name, bp_error* error) {
  return call_server(context, call_with("GET", target_of(*resource, ns, view(name))), error);
}
bp_text* list_objects(bp_context* context, const bp_resource* resource, bp_str ns, bp_str labels, bp_str fields, bp_error* error) {
  std::string target = target_of(*resource, ns);
  char sign = '?';
  for (const auto& [key, selector] : {std::pair("labelSelector=", labels), std::pair("fieldSelector=", fields)}) {
    if (selector.size == 0) continue;
    target += sign + (key + percent_encoded(view(selector)));
    sign = '&';
  }
  return call_server(context, call_with("GET", std::move(target)), error);
}
bp_text* create_object(bp_context* context, const bp_resource* resource, bp_str ns, bp_str object, bp_error* error) {
  return call_server(context, call_with("POST", target_of(*resource, ns), kJsonType, text(object)), error);
}
bp_text* update_object(bp_context* context, const bp_resource* resource, bp_str ns, bp_str subresource, bp_str object, bp_error* error) {
  const auto tree = object_of(view(object));
  const std::string name(tree ? get_string_path(*tree, "metadata.name") : std::string_view());
  if (name.empty()) return fail(error, bad_request("an update needs an object with metadata.name")), nullptr;
  return call_server(context, call_with("PUT", target_of(*resource, ns, name, view(subresource)), kJsonType, text(object)), error);
}
bp_text* patch_object(bp_context* context, const bp_resource* resource, bp_str ns, bp_str name, bp_str subresource, int32_t type,
                      bp_str patch, bp_error* error) {
  const bool known = type > 0 && type < static_cast<int>(std::size(kPatchTypes));
  const std::string_view content_type = kPatchTypes[known ? type : 0];
  return call_server(context, call_with("PATCH", target_of(*resource, ns, view(name), view(subresource)), content_type, text(patch)),
                     error);
}
bp_text* remove_object(bp_context* context, const bp_resource* resource, bp_str ns, bp_str name, bp_str options, bp_error* error) {
  const std::string_view content_type = options.size != 0 ? kJsonType : std::string_view();
  return call_server(context, call_with("DELETE", target_of(*resource, ns, view(name)), content_type, text(options)), error);
}

}  // namespace

const bp_client_table& client_table() {
  static const bp_client_table kTable = {sizeof(bp_client_table), get_object_of, list_objects, create_object,
                                         update_object,           patch_object,  remove_object};
  return kTable;
}

}  // namespace backplane::stable
