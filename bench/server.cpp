#include "server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "measure.hpp"

namespace bench {
namespace {

constexpr std::chrono::seconds kReady{60};
constexpr std::chrono::seconds kIdle{120};

std::string output_of(const std::string& folder) {
  std::ifstream file(folder + "/output");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.size() > 2000 ? text.substr(text.size() - 2000) : text;
}

}  // namespace

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "backplane-growth-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + path);
  return path;
}

OwnServer::OwnServer(const std::string& binary, const std::vector<std::string>& flags) : folder_(make_folder()) {
  std::vector<std::string> words{binary, "--data-dir", folder_ + "/data", "--secure-port", "0"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string output = folder_ + "/output";
  pid_ = fork();
  if (pid_ == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, 1);
    dup2(file, 2);
    execv(binary.c_str(), arguments.data());
    _exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + kReady;
  while (!is_ready()) {
    const bool ended = waitpid(pid_, nullptr, WNOHANG) == pid_;
    if (ended) pid_ = 0;
    if (ended || std::chrono::steady_clock::now() > deadline) {
      const std::string output = output_of(folder_);
      if (pid_ != 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
      }
      std::filesystem::remove_all(folder_);
      throw std::runtime_error("the server does not become ready; its output:\n" + output);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

OwnServer::~OwnServer() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// The server writes the kubeconfig before it listens, so the request can fail although the file exists.
bool OwnServer::is_ready() {
  try {
    if (!endpoint_) {
      const std::string kubeconfig = folder_ + "/data/admin.kubeconfig";
      if (!std::filesystem::exists(kubeconfig)) return false;
      endpoint_ = std::make_unique<Endpoint>(kubeconfig);
    }
    return Connection(*endpoint_).request("GET", "/readyz").code == 200;
  } catch (const std::exception&) {
    return false;
  }
}

void OwnServer::wait_idle() const {
  const auto deadline = std::chrono::steady_clock::now() + kIdle;
  int quiet = 0;
  while (quiet < 3 && std::chrono::steady_clock::now() < deadline) {
    const double before = usage_of(pid_).cpu_seconds;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    quiet = usage_of(pid_).cpu_seconds - before < 0.02 ? quiet + 1 : 0;
  }
}

}  // namespace bench
