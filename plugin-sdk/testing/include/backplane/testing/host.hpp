// A server for the tests of a plugin: the C++ wrapper of host.h. See host.h for the properties of a host.
//
//   backplane::testing::Host host({"build/widgets.so"});
//   auto widgets = host.resource("widgets.example.com/v1", "widgets");
//   auto made = widgets.create(R"({"apiVersion":"widgets.example.com/v1","kind":"Widget","metadata":{"name":"first"},"spec":{"size":3}})");
//   EXPECT_EQ(made.code(), 201);
//   widgets.wait_until("first", [](const auto& widget) { return widget.integer("/status/size") == 3; });
//
// Header-only C++20 over the C functions of libbackplane-testing. It works with any compiler, any ABI mode of the C++ library, and any test
// framework.
//
// Thread-safety: a Host from any thread; other objects from one thread at a time.
// Lifetime:      the destructor of a Host stops the server. A Resource refers to its Host.
// Errors:        std::runtime_error if the server does not start, if a watch is refused, or if a condition is not met in time. A response
//                with an error code is an Answer. If there is no response, the Answer has the code 0.
#pragma once

#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/testing/host.h"

namespace backplane::testing {

inline constexpr std::chrono::milliseconds kPatience{60'000};

// A response, an object or an event. Copies share the content.
class Answer {
 public:
  explicit Answer(bpt_answer* answer) : answer_(answer, bpt_answer_release) {}

  int code() const noexcept { return bpt_answer_code(answer_.get()); }
  bool ok() const noexcept { return code() >= 200 && code() < 300; }
  std::string_view body() const noexcept {
    std::size_t size = 0;
    const char* body = bpt_answer_body(answer_.get(), &size);
    return {body, size};
  }
  bool has(const std::string& pointer) const { return bpt_answer_value(answer_.get(), pointer.c_str()) != nullptr; }
  // The member at a JSON pointer: strings without quotes, other values as JSON; empty if there is no such member.
  std::string text(const std::string& pointer) const {
    const char* value = bpt_answer_value(answer_.get(), pointer.c_str());
    return value != nullptr ? value : "";
  }
  // The integer at a JSON pointer; nullopt if the member is not an integer.
  std::optional<long long> integer(const std::string& pointer) const {
    const std::string value = text(pointer);
    char* end = nullptr;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    return value.empty() || *end != '\0' ? std::nullopt : std::optional<long long>(number);
  }
  // The member at a JSON pointer as an Answer; nullopt if there is no such member.
  std::optional<Answer> part(const std::string& pointer) const {
    bpt_answer* found = bpt_answer_part(answer_.get(), pointer.c_str());
    return found == nullptr ? std::nullopt : std::optional<Answer>(Answer(found));
  }
  // Members of the body, if it is a metav1.Status.
  std::string reason() const { return text("/reason"); }
  std::string message() const { return text("/message"); }

 private:
  std::shared_ptr<bpt_answer> answer_;
};

// The events of a collection.
class Watch {
 public:
  explicit Watch(bpt_watch* watch) : watch_(watch, bpt_watch_close) {}
  // Returns the next event, as {"type", "object"}; nullopt if no event arrives within `limit`, or if the watch has ended.
  std::optional<Answer> next(std::chrono::milliseconds limit = kPatience) {
    bpt_answer* event = bpt_watch_next(watch_.get(), static_cast<uint32_t>(limit.count()));
    return event == nullptr ? std::nullopt : std::optional<Answer>(Answer(event));
  }
  bool ended() const noexcept { return bpt_watch_ended(watch_.get()) != 0; }

 private:
  std::unique_ptr<bpt_watch, void (*)(bpt_watch*)> watch_;
};

// One resource, in one namespace or cluster-scoped. Objects are JSON.
class Resource {
 public:
  using Condition = std::function<bool(const Answer& object)>;

  Resource(bpt_host* host, std::string path) : host_(host), path_(std::move(path)) {}

  // "/apis/example.com/v1/namespaces/default/widgets"; with a name, the path of that object.
  const std::string& path() const noexcept { return path_; }
  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

  Answer create(std::string_view object, std::string_view query = {}) const { return send("POST", path_, query, kJson, object); }
  Answer get(std::string_view name) const { return send("GET", path(name)); }
  Answer list(std::string_view query = {}) const { return send("GET", path_, query); }
  Answer update(std::string_view name, std::string_view object, std::string_view query = {}) const {
    return send("PUT", path(name), query, kJson, object);
  }
  // `type`: "merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml". `name` may be "first/status".
  Answer patch(std::string_view name, std::string_view patch, std::string_view query = {},
               std::string_view type = "merge-patch+json") const {
    return send("PATCH", path(name), query, "application/" + std::string(type), patch);
  }
  Answer remove(std::string_view name, std::string_view query = {}) const { return send("DELETE", path(name), query); }
  // `query`: "resourceVersion=12". If it is empty, the watch begins with the existing objects.
  Watch watch(const std::string& query = {}) const {
    char error[512] = "";
    bpt_watch* opened = bpt_watch_open(host_, (query.empty() ? path_ : path_ + "?" + query).c_str(), error, sizeof error);
    if (opened == nullptr) throw std::runtime_error(error);
    return Watch(opened);
  }
  // Waits with a watch until `condition` holds for the object, and returns the object. If the object does not exist, `condition` receives
  // an Answer with the code 404 and no members.
  Answer wait_until(const std::string& name, const Condition& condition, std::chrono::milliseconds limit = kPatience) const {
    Waiting waiting{&condition, nullptr};
    bpt_answer* met = bpt_wait(host_, path_.c_str(), name.c_str(), &Resource::holds, &waiting, static_cast<uint32_t>(limit.count()));
    std::optional<Answer> answer;
    if (met != nullptr) answer.emplace(met);
    if (waiting.thrown) std::rethrow_exception(waiting.thrown);
    if (!answer) throw std::runtime_error("the condition for " + path(name) + " is not met in time: " + std::string(get(name).body()));
    return *answer;
  }
  void wait_gone(const std::string& name, std::chrono::milliseconds limit = kPatience) const {
    (void)wait_until(
        name, [](const Answer& object) { return object.code() == 404; }, limit);
  }

 private:
  static constexpr const char* kJson = "application/json";
  struct Waiting {
    const Condition* condition;
    std::exception_ptr thrown;
  };
  static int holds(void* context, const bpt_answer* object) noexcept {
    auto& waiting = *static_cast<Waiting*>(context);
    try {
      return (*waiting.condition)(Answer(bpt_answer_part(object, ""))) ? 1 : 0;
    } catch (...) {
      waiting.thrown = std::current_exception();
      return 1;
    }
  }
  Answer send(const char* method, std::string target, std::string_view query = {}, const std::string& type = {},
              std::string_view body = {}) const {
    if (!query.empty()) target.append("?").append(query);
    return Answer(bpt_send(host_, method, target.c_str(), type.empty() ? nullptr : type.c_str(), body.data(), body.size()));
  }

  bpt_host* host_;
  std::string path_;
};

class Host {
 public:
  // Starts a server with these plugins (.so files) and with additional flags. Waits until the server is ready.
  explicit Host(const std::vector<std::string>& plugins, const std::vector<std::string>& flags = {},
                std::chrono::milliseconds limit = kPatience) {
    char error[8192] = "";
    host_ = bpt_host_start(pointers(plugins).data(), pointers(flags).data(), static_cast<uint32_t>(limit.count()), error, sizeof error);
    if (host_ == nullptr) throw std::runtime_error(error);
  }
  ~Host() { (void)stop(); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // `api_version`: "widgets.example.com/v1", or "v1" for the core group. `ns`: empty for cluster-scoped resources.
  Resource resource(const std::string& api_version, const std::string& plural, const std::string& ns = "default") const {
    std::string path = (api_version.find('/') == std::string::npos ? "/api/" : "/apis/") + api_version;
    if (!ns.empty()) path += "/namespaces/" + ns;
    return {host_, path + "/" + plural};
  }
  Answer send(const std::string& method, const std::string& target, std::string_view body = {},
              const std::string& content_type = "application/json") const {
    return Answer(bpt_send(host_, method.c_str(), target.c_str(), body.empty() ? nullptr : content_type.c_str(), body.data(), body.size()));
  }
  std::string log() const { return std::string(Answer(bpt_host_log(host_)).body()); }
  std::string kubeconfig() const { return bpt_host_kubeconfig(host_); }
  int process() const noexcept { return bpt_host_process(host_); }
  // Stops the server and returns its exit code; a second call returns 0. After stop(), no other function of the Host may be called.
  int stop() noexcept { return bpt_host_stop(std::exchange(host_, nullptr)); }

 private:
  static std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> out;
    for (const auto& text : texts) out.push_back(text.c_str());
    out.push_back(nullptr);
    return out;
  }

  bpt_host* host_ = nullptr;
};

}  // namespace backplane::testing
