// For tests: a server in this process that uses the memory store and the plugin of tests/plugins/replacement, and clients over TLS.
//
// Thread-safety: one thread.
// Lifetime:      the server stops with the object.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "app/server.hpp"
#include "app/server_parts.hpp"
#include "backplane/net/client.hpp"
#include "client/remote_client.hpp"
#include "shared_object.hpp"

namespace backplane {

inline constexpr std::string_view kGadgets = "/apis/test.example.com/v1/gadgets";
inline constexpr const char* kName = "test.example.com/gadgets";

inline std::string build_file(const std::string& build) { return std::string(BUILDS_DIR) + "/gadgets_" + build + ".so"; }

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string gadget(const std::string& name) {
  return R"({"apiVersion":"test.example.com/v1","kind":"Gadget","metadata":{"name":")" + name + R"("}})";
}

class RunningServer {
 public:
  // `plugins`: the value of --plugin-dir; `more`: further flags.
  explicit RunningServer(const std::string& plugins, const std::vector<std::string>& more = {}) {
    auto options = std::make_unique<Options>();
    std::vector<std::string> flags{"--data-dir=" + (data_ / "data"), "--plugin-dir=" + plugins, "--storage-backend=memory",
                                   "--secure-port=0", "--bind-address=127.0.0.1"};
    flags.insert(flags.end(), more.begin(), more.end());
    Status parsed = options->flags.parse(flags);
    EXPECT_TRUE(parsed.ok()) << parsed.message();
    auto completed = Options::complete(std::move(options));
    EXPECT_TRUE(completed.ok()) << completed.status().message();
    auto config = CompletedOptions::config(std::move(*completed));
    EXPECT_TRUE(config.ok()) << config.status().message();
    ::signal(SIGPIPE, SIG_IGN);
    auto server = Server::create(std::move(*config), stop_);
    EXPECT_TRUE(server.ok()) << server.status().message();
    auto prepared = Server::prepare_run(std::move(*server));
    EXPECT_TRUE(prepared.ok()) << prepared.status().message();
    parts_ = &prepared->parts_for_test();
    RetireLimits limits;
    limits.code = std::chrono::nanoseconds(0);
    parts_->plugins->use_limits(limits);
    thread_ = std::thread([this, prepared = std::move(*prepared)]() mutable {
      auto code = PreparedServer::run(std::move(prepared));
      EXPECT_TRUE(code.ok() && *code == 0);
    });
    run_on(loop(), parts_->hooks.all_done().wait());
    auto admin = client_config_from_kubeconfig(file_text(data_ / "data/admin.kubeconfig"));
    EXPECT_TRUE(admin.ok()) << admin.status().message();
    config_ = *admin;
    client_ = *make_remote_client(loop_, tasks_, config_);
    config_.client_certificate.clear();
    config_.client_key.clear();
    config_.token = "gadget-token";
    by_token_ = *make_remote_client(loop_, tasks_, config_);
  }
  ~RunningServer() {
    tasks_.close();
    run_on(loop_, tasks_.wait_all());
    client_.reset();
    by_token_.reset();
    stop_.request();
    thread_.join();
    loop_.stop();
  }

  IoLoop& loop() {
    std::call_once(loop_started_, [this] { loop_.start(); });
    return loop_;
  }
  ServerParts& parts() noexcept { return *parts_; }
  TaskGroup& tasks() noexcept { return tasks_; }
  HttpClient& client() noexcept { return *client_; }
  HttpClient& by_token() noexcept { return *by_token_; }

  struct Answer {
    int code = 0;
    std::string body;
  };
  static Task<Answer> ask(HttpClient& client, HttpCall call) {
    auto calling = client.call(std::move(call));
    auto answered = co_await std::move(calling);
    if (!answered.ok()) co_return Answer{0, answered.status().message()};
    Answer answer;
    answer.code = (*answered)->code();
    auto reading = read_all(**answered);
    auto body = co_await std::move(reading);
    if (!body.ok()) co_return Answer{0, body.status().message()};
    answer.body = std::move(*body);
    co_return answer;
  }
  Answer send(std::string method, std::string target, std::string body = {}, const std::string& accept = {}) {
    HttpCall call;
    call.method = std::move(method);
    call.target = std::move(target);
    call.body = std::move(body);
    if (!accept.empty()) call.headers.emplace_back("Accept", accept);
    if (!call.body.empty()) call.headers.emplace_back("Content-Type", "application/json");
    return run_on(loop(), ask(*client_, std::move(call)));
  }
  std::string build() { return send("GET", "/gadgets/build").body; }

 private:
  TemporaryDirectory data_;
  StopEvent stop_;
  std::once_flag loop_started_;
  IoLoop loop_{"test"};
  LoggedTaskGroup tasks_;
  ServerParts* parts_ = nullptr;
  ClientConfig config_;
  std::shared_ptr<HttpClient> client_, by_token_;
  std::thread thread_;
};

}  // namespace backplane
