#include "app/etcd_stand_in.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <map>

#include "app/paths.hpp"
#include "backplane/core/json.hpp"
#include "transport/sockets.hpp"

namespace backplane {
namespace {

constexpr std::string_view kName = "backplane-etcd", kVersion = "3.6.0";
constexpr std::size_t kMaxRequest = 16 * 1024;
constexpr int kReadMilliseconds = 1000;
constexpr int kBacklog = 64;

struct StandInFlags {
  std::vector<std::string> urls{"http://127.0.0.1:2379"};
  std::string data_dir = "default.etcd";
  bool unsafe_no_fsync = false, help = false, version = false;
};

// Parses etcd's flags: "--name=value", "--name value", and "--name" of a boolean one. Flags that the stand-in does not use are ignored.
StandInFlags parse_flags(int argc, char** argv) {
  StandInFlags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (!word.starts_with('-')) continue;
    const auto begin = word.find_first_not_of('-');
    const auto equals = word.find('=');
    const std::string_view name =
        begin == std::string_view::npos ? "" : word.substr(begin, equals == std::string_view::npos ? equals : equals - begin);
    const bool next = equals == std::string_view::npos && i + 1 < argc && argv[i + 1][0] != '-';
    const std::string value = equals != std::string_view::npos ? std::string(word.substr(equals + 1)) : next ? argv[i + 1] : "true";
    if (name == "listen-client-urls") {
      flags.urls.clear();
      for (std::size_t at = 0; at <= value.size();) {
        const auto comma = std::min(value.find(',', at), value.size());
        flags.urls.push_back(value.substr(at, comma - at));
        at = comma + 1;
      }
    }
    if (name == "data-dir") flags.data_dir = value;
    if (name == "unsafe-no-fsync") flags.unsafe_no_fsync = value == "true" || next;
    if (name == "help" || name == "h") flags.help = true;
    if (name == "version") flags.version = true;
  }
  return flags;
}

void print_help() {
  std::printf(
      "%.*s takes etcd's place for a backplane server in tests: it answers etcd's health check, and the server\n"
      "whose --etcd-servers is its URL keeps its embedded store in --data-dir.\n\n"
      "Flags (others of etcd are ignored):\n"
      "  --data-dir DIR             where the store is\n"
      "  --listen-client-urls URLS  http URLs of loopback addresses, separated by commas\n"
      "  --unsafe-no-fsync          the store acknowledges writes before they are durable\n",
      static_cast<int>(kName.size()), kName.data());
}

int stand_in_error(const std::string& message) {
  std::fprintf(stderr, "Error: %s\n", message.c_str());
  return 1;
}

std::string version_body(const StandInFlags& flags) {
  return to_json(Object{{"etcdserver", kVersion},
                        {"etcdcluster", kVersion},
                        {"storage", "3.6.0"},
                        {"backplane", Object{{"dataDir", flags.data_dir}, {"unsafeNoFsync", flags.unsafe_no_fsync}}}});
}

std::string http_response(int code, std::string_view reason, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(code) + " " + std::string(reason) +
         "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The request's head; empty if the client sends none in time.
std::string read_head(int fd) {
  std::string head;
  std::array<char, 2048> buffer{};
  while (head.find("\r\n\r\n") == std::string::npos && head.size() < kMaxRequest) {
    pollfd readable{fd, POLLIN, 0};
    if (poll(&readable, 1, kReadMilliseconds) <= 0) return {};
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return {};
    head.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return head;
}

void answer(int listening, const std::map<std::string, std::string, std::less<>>& pages) {
  const FileDescriptor fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd.valid()) return;
  const std::string head = read_head(fd.get());
  const auto begin = head.find(' ');
  if (begin == std::string::npos) return;
  const std::string_view path = std::string_view(head).substr(begin + 1, head.find_first_of(" ?\r", begin + 1) - begin - 1);
  const auto page = pages.find(path);
  const std::string text = page != pages.end() ? http_response(200, "OK", page->second) : http_response(404, "Not Found", "{}");
  (void)!::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace

bool is_etcd_stand_in(std::string_view program) { return program.substr(program.rfind('/') + 1) == kName; }

std::optional<LoopbackUrl> parse_loopback_url(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  url = url.substr(0, url.find('/'));
  const auto colon = url.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  LoopbackUrl out;
  const std::string_view digits = url.substr(colon + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  const std::string_view host = url.substr(0, colon);
  out.address = host == "localhost" ? "127.0.0.1" : host == "[::1]" ? "::1" : std::string(host);
  if (out.address != "::1" && !out.address.starts_with("127.")) return std::nullopt;
  return out;
}

int run_etcd_stand_in(int argc, char** argv) {
  StandInFlags flags = parse_flags(argc, argv);
  if (flags.help) {
    print_help();
    return 0;
  }
  if (flags.version) {
    std::printf("etcd Version: %.*s (%.*s)\n", static_cast<int>(kVersion.size()), kVersion.data(), static_cast<int>(kName.size()),
                kName.data());
    return 0;
  }
  flags.data_dir = absolute_path(flags.data_dir);
  sigset_t ends{};
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const FileDescriptor signals(signalfd(-1, &ends, SFD_CLOEXEC));
  std::vector<FileDescriptor> listening;
  std::vector<pollfd> watched{{signals.get(), POLLIN, 0}};
  for (const std::string& url : flags.urls) {
    const auto parsed = parse_loopback_url(url);
    if (!parsed) return stand_in_error("--listen-client-urls: " + url + " is not an http URL of a loopback address with a port");
    ServingOptions options;
    options.bind_address = parsed->address;
    options.port = parsed->port;
    options.backlog = kBacklog;
    auto opened = listen_tcp(options);
    if (!opened.ok()) return stand_in_error(opened.status().message());
    listening.push_back(std::move(*opened));
    watched.push_back({listening.back().get(), POLLIN, 0});
  }
  const std::map<std::string, std::string, std::less<>> pages{
      {"/health", R"({"health":"true","reason":""})"}, {"/readyz", "ok\n"}, {"/livez", "ok\n"}, {"/version", version_body(flags)}};
  for (;;) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return stand_in_error("poll failed");
    if (watched.front().revents != 0) return 0;
    for (std::size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents != 0) answer(watched[i].fd, pages);
    }
  }
}

}  // namespace backplane
