#include "testhost/child_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kStopLimit{90'000};

}  // namespace

Result<std::unique_ptr<ChildServer>> ChildServer::start(ChildServerOptions options) {
  std::unique_ptr<ChildServer> server(new ChildServer);
  if (Status status = server->prepare(options); !status.ok()) return status;
  if (Status status = server->run(options); !status.ok()) return status;
  return server;
}

ChildServer::~ChildServer() {
  (void)stop();
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

Status ChildServer::prepare(const ChildServerOptions& options) {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "backplane-test-host-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) return internal_error("cannot make " + pattern + ": " + std::strerror(errno));
  directory_ = pattern;
  fs::create_directory(plugin_directory(), error);
  for (const fs::path file : options.plugins) {
    if (!error) fs::copy_file(file, fs::path(plugin_directory()) / file.filename(), error);
    if (error) return bad_request(file.string() + ": " + error.message());
  }
  return error ? internal_error(plugin_directory() + ": " + error.message()) : Status();
}

Status ChildServer::run(const ChildServerOptions& options) {
  const int log = ::open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int output[2] = {-1, -1};
  if (log < 0 || ::pipe2(output, O_CLOEXEC) != 0) return internal_error(std::string("cannot start the server: ") + std::strerror(errno));
  Command command{options.program, "--throwaway", "--plugin-dir", options.built_in_plugins, "--plugin-dir", plugin_directory()};
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  pid_ = spawn(command, {output[1], log, options.environment});
  ::close(output[1]);
  ::close(log);
  Status started = pid_ > 0 ? read_kubeconfig(output[0], options.start_limit) : internal_error(options.program + " cannot be executed");
  ::close(output[0]);
  return started;
}

// Waits until the server prints the path of its kubeconfig, which it does when it accepts requests.
Status ChildServer::read_kubeconfig(int output, std::chrono::milliseconds limit) {
  constexpr std::string_view kLine = "export KUBECONFIG=";
  const auto until = std::chrono::steady_clock::now() + limit;
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd readable{output, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&readable, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return internal_error("the server has not started within " + std::to_string(limit.count()) + " ms; its log:\n" + log());
    const ssize_t size = ::read(output, buffer, sizeof buffer);
    if (size <= 0) return internal_error("the server has not started; its log:\n" + log());
    text.append(buffer, static_cast<std::size_t>(size));
    const auto begin = text.find(kLine);
    const auto end = begin == std::string::npos ? begin : text.find('\n', begin);
    if (end == std::string::npos) continue;
    kubeconfig_ = text.substr(begin + kLine.size(), end - begin - kLine.size());
    return {};
  }
}

std::string ChildServer::log() const {
  std::ifstream file(directory_ + "/log", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool ChildServer::ended() {
  if (pid_ <= 0) return true;
  const auto code = wait_for_exit(pid_, std::chrono::milliseconds(0));
  if (!code) return false;
  code_ = *code;
  pid_ = -1;
  return true;
}

int ChildServer::stop() {
  if (ended()) return code_;
  ::kill(pid_, SIGTERM);
  auto code = wait_for_exit(pid_, kStopLimit);
  if (!code) {
    ::kill(pid_, SIGKILL);
    code = wait_for_exit(pid_);
  }
  pid_ = -1;
  return code_ = *code;
}

}  // namespace backplane
