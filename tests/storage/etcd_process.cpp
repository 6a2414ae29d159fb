#include "etcd_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <thread>

namespace backplane {
namespace {

constexpr const char* kEtcd = "/usr/bin/etcd";

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

// etcd takes connections before it has a leader: its own health check says when it can be used.
bool answers(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    constexpr std::string_view kAsk = "GET /health HTTP/1.0\r\n\r\n";
    char buffer[1024];
    ssize_t count = send(fd, kAsk.data(), kAsk.size(), MSG_NOSIGNAL);
    while (count > 0 && (count = recv(fd, buffer, sizeof(buffer), 0)) > 0) answer.append(buffer, static_cast<std::size_t>(count));
  }
  close(fd);
  return answer.find(R"("health":"true")") != std::string::npos;
}

}  // namespace

bool EtcdProcess::installed() { return access(kEtcd, X_OK) == 0; }

EtcdProcess::EtcdProcess(std::string directory) : directory_(std::move(directory)), port_(free_port()) {
  url_ = "http://127.0.0.1:" + std::to_string(port_);
  peer_url_ = "http://127.0.0.1:" + std::to_string(free_port());
  start();
}

EtcdProcess::~EtcdProcess() { kill(); }

void EtcdProcess::start() {
  const std::string cluster = "test=" + peer_url_;
  pid_ = fork();
  if (pid_ == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execl(kEtcd, kEtcd, "--name=test", ("--data-dir=" + directory_ + "/etcd").c_str(), ("--listen-client-urls=" + url_).c_str(),
          ("--advertise-client-urls=" + url_).c_str(), ("--listen-peer-urls=" + peer_url_).c_str(),
          ("--initial-advertise-peer-urls=" + peer_url_).c_str(), ("--initial-cluster=" + cluster).c_str(), nullptr);
    _exit(127);
  }
  wait_until_it_answers();
}

void EtcdProcess::wait_until_it_answers() const {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!answers(port_)) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "etcd does not come up";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void EtcdProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void EtcdProcess::pause() { ::kill(pid_, SIGSTOP); }
void EtcdProcess::go_on() { ::kill(pid_, SIGCONT); }

}  // namespace backplane
