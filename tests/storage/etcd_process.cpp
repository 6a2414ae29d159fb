#include "etcd_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "unused_port.hpp"

namespace backplane {
namespace {

using etcd::loopback;
using etcd::unused_port;

constexpr const char* kEtcd = "/usr/bin/etcd";

std::string http_get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string ask = "GET " + path + " HTTP/1.0\r\n\r\n";
    std::vector<char> buffer(64 * 1024);
    ssize_t count = send(fd, ask.data(), ask.size(), MSG_NOSIGNAL);
    while (count > 0 && (count = recv(fd, buffer.data(), buffer.size(), 0)) > 0)
      answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(fd);
  return answer;
}

// True if etcd is usable: it accepts connections before it has a leader, so its health check is used.
bool answers(int port) { return http_get(port, "/health").find(R"("health":"true")") != std::string::npos; }

std::string local_url(const std::string& scheme, int port) { return scheme + "://127.0.0.1:" + std::to_string(port); }

}  // namespace

bool EtcdProcess::installed() { return access(kEtcd, X_OK) == 0; }
int EtcdProcess::free_port() { return unused_port(); }

EtcdProcess::EtcdProcess(std::string directory, Setup setup)
    : directory_(std::move(directory)), setup_(std::move(setup)), port_(unused_port()), health_port_(unused_port()) {
  url_ = local_url(setup_.tls ? "https" : "http", port_);
  if (setup_.peer_url.empty()) setup_.peer_url = local_url("http", unused_port());
  if (setup_.cluster.empty()) setup_.cluster = setup_.name + "=" + setup_.peer_url;
  start();
}

EtcdProcess::~EtcdProcess() { kill(); }

void EtcdProcess::start() {
  std::vector<std::string> words = {kEtcd,
                                    "--name=" + setup_.name,
                                    "--data-dir=" + directory_ + "/" + setup_.name,
                                    "--listen-client-urls=" + url_,
                                    "--advertise-client-urls=" + url_,
                                    "--listen-metrics-urls=" + local_url("http", health_port_),
                                    "--listen-peer-urls=" + setup_.peer_url,
                                    "--initial-advertise-peer-urls=" + setup_.peer_url,
                                    "--initial-cluster=" + setup_.cluster};
  words.insert(words.end(), setup_.flags.begin(), setup_.flags.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execv(kEtcd, arguments.data());
    _exit(127);
  }
  if (setup_.wait) wait_until_ready();
}

void EtcdProcess::wait_until_ready() const {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!answers(health_port_)) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "etcd does not come up";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

double EtcdProcess::metric(const std::string& series) const {
  const std::string text = http_get(health_port_, "/metrics");
  const auto at = text.find("\n" + series + " ");
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + series.size() + 2, nullptr);
}

void EtcdProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void EtcdProcess::pause() { ::kill(pid_, SIGSTOP); }
void EtcdProcess::go_on() { ::kill(pid_, SIGCONT); }

std::vector<std::unique_ptr<EtcdProcess>> start_etcd_cluster(const std::string& directory, int members) {
  std::vector<EtcdProcess::Setup> setups(static_cast<std::size_t>(members));
  std::string cluster;
  for (std::size_t i = 0; i < setups.size(); ++i) {
    setups[i].name = "member" + std::to_string(i);
    setups[i].peer_url = local_url("http", unused_port());
    cluster += (i > 0 ? "," : "") + setups[i].name + "=" + setups[i].peer_url;
  }
  std::vector<std::unique_ptr<EtcdProcess>> started;
  for (EtcdProcess::Setup& setup : setups) {
    setup.cluster = cluster;
    setup.wait = false;
    started.push_back(std::make_unique<EtcdProcess>(directory, setup));
  }
  for (const auto& member : started) member->wait_until_ready();
  return started;
}

EtcdProcess& leader_of(const std::vector<std::unique_ptr<EtcdProcess>>& members) {
  for (;;) {
    for (const auto& member : members) {
      if (member->metric("etcd_server_is_leader") == 1) return *member;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace backplane
