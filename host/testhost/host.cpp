// The C functions of backplane/testing/host.h.
#include "backplane/testing/host.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "backplane/core/json.hpp"
#include "backplane/core/json_access.hpp"
#include "base/log.hpp"
#include "testhost/child_server.hpp"
#include "testhost/test_connection.hpp"

#define BPT_API extern "C" __attribute__((visibility("default")))

namespace fs = std::filesystem;
using namespace backplane;

struct bpt_answer {
  Response response;
  mutable std::optional<Value> body = {};  // parsed at the first use
  mutable std::map<std::string, std::string> values = {};

  const Value* find(std::string_view pointer) const {
    if (!body) {
      boost::system::error_code error;
      json::parse_options options;
      options.max_depth = kMaxJsonDepth;
      body = json::parse(response.body, error, {}, options);
      if (error) body = Value();
    }
    boost::system::error_code error;
    return body->find_pointer({pointer.data(), pointer.size()}, error);
  }
};

struct bpt_watch {
  std::shared_ptr<EventQueue> events;
};

struct bpt_host {
  std::unique_ptr<ChildServer> server;
  std::unique_ptr<TestConnection> connection;
  std::mutex mutex = {};  // guards server->ended()
};

namespace {

void copy_error(char* error, std::size_t size, std::string_view why) {
  if (error == nullptr || size == 0) return;
  const std::size_t length = std::min(size - 1, why.size());
  std::memcpy(error, why.data(), length);
  error[length] = '\0';
}

std::vector<std::string> texts(const char* const* list) {
  std::vector<std::string> out;
  for (; list != nullptr && *list != nullptr; ++list) out.emplace_back(*list);
  return out;
}

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the directory of this library: <prefix>/lib.
fs::path library_folder() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(&library_folder), &info);
  std::error_code error;
  return fs::canonical(info.dli_fname != nullptr ? info.dli_fname : "", error).parent_path();
}

// Selects the executable named by the environment variable BACKPLANE, or that of the same installation as this library. The same is true of
// BACKPLANE_PLUGINS and the in-tree plugins.
ChildServerOptions options_of(const char* const* plugins, const char* const* flags, std::uint32_t milliseconds) {
  const fs::path prefix = library_folder().parent_path();
  const char* program = std::getenv("BACKPLANE");
  const char* built_in = std::getenv("BACKPLANE_PLUGINS");
  ChildServerOptions options{program != nullptr ? program : (prefix / "bin/backplane").string(),
                             built_in != nullptr ? built_in : (library_folder() / "backplane/plugins").string()};
  options.plugins = texts(plugins);
  options.flags = texts(flags);
  if (milliseconds > 0) options.start_limit = std::chrono::milliseconds(milliseconds);
  return options;
}

// Returns the reasons why plugins under test do not run; empty if all of them run.
std::string idle_plugins(const std::string& statuses, const std::string& directory) {
  boost::system::error_code error;
  const Value listed = json::parse(statuses, error);
  if (error || !listed.is_object()) return "the server does not list its plugins: " + statuses;
  std::string out;
  each(listed.get_object(), "plugins", [&](const Object& plugin, std::size_t) {
    if (get_string(plugin, "state") == "Committed" || !get_string(plugin, "file").starts_with(directory)) return;
    out.append("plugin ").append(get_string(plugin, "name")).append(" does not run: ").append(get_string(plugin, "state"));
    each(plugin, "findings", [&](const Object& finding, std::size_t) {
      out.append("\n  ").append(get_string(finding, "code")).append(" ").append(get_string(finding, "message"));
    });
    out += "\n";
  });
  return out;
}

Result<std::unique_ptr<bpt_host>> started(ChildServerOptions options) {
  auto server = ChildServer::start(std::move(options));
  if (!server.ok()) return std::move(server.status());
  auto config = client_config_from_kubeconfig(text_of_file((*server)->kubeconfig()));
  if (!config.ok()) return std::move(config.status());
  auto connection = TestConnection::open(std::move(*config));
  if (!connection.ok()) return std::move(connection.status());
  const Response statuses = (*connection)->send("GET", "/plugins");
  if (const std::string idle = idle_plugins(statuses.body, (*server)->plugin_directory()); !idle.empty()) return bad_request(idle);
  return std::unique_ptr<bpt_host>(new bpt_host{std::move(*server), std::move(*connection)});
}

std::string item_target(std::string_view collection, std::string_view name) {
  return std::string(collection) + "?fieldSelector=metadata.name%3D" + std::string(name);
}

// Lists the object at `target`, and then watches it from the list's revision. Returns the first state that meets the condition (404: the
// object does not exist), or null. Sets `again` if the watch has ended before the time is over; the caller then lists again.
bpt_answer* wait_round(bpt_host& host, const std::string& target, int (*condition)(void*, const bpt_answer*), void* context,
                       std::chrono::steady_clock::time_point until, bool& again) {
  const auto meets = [&](Response object) {
    auto answer = std::make_unique<bpt_answer>(bpt_answer{std::move(object)});
    return condition(context, answer.get()) != 0 ? answer.release() : nullptr;
  };
  again = false;
  const bpt_answer list{host.connection->send("GET", target)};
  if (list.response.code != 200) return nullptr;
  const Value* item = list.find("/items/0");
  if (bpt_answer* met = meets(item != nullptr ? Response{200, json::serialize(*item)} : Response{404, {}})) return met;
  const Value* revision = list.find("/metadata/resourceVersion");
  if (revision == nullptr) return nullptr;
  const auto events = host.connection->watch(target + "&watch=true&resourceVersion=" + std::string(text_of(*revision)));
  bpt_answer* met = nullptr;
  while (met == nullptr && !events->ended()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    auto line = events->next(left);
    if (!line) continue;
    const bpt_answer event{{200, std::move(*line)}};
    const Value* type = event.find("/type");
    const Value* object = event.find("/object");
    if (type == nullptr || object == nullptr || text_of(*type) == "ERROR") break;
    if (text_of(*type) == "BOOKMARK") continue;
    met = meets(text_of(*type) == "DELETED" ? Response{404, {}} : Response{200, json::serialize(*object)});
  }
  events->close();
  again = met == nullptr && std::chrono::steady_clock::now() < until;
  return met;
}

}  // namespace

BPT_API bpt_host* bpt_host_start(const char* const* plugins, const char* const* flags, uint32_t milliseconds, char* error, size_t size) {
  set_log_level("error");
  auto host = started(options_of(plugins, flags, milliseconds));
  if (host.ok()) return host->release();
  copy_error(error, size, host.status().message());
  return nullptr;
}

BPT_API int bpt_host_stop(bpt_host* host) {
  if (host == nullptr) return 0;
  const std::unique_ptr<bpt_host> owned(host);
  owned->connection.reset();
  return owned->server->stop();
}

BPT_API const char* bpt_host_kubeconfig(const bpt_host* host) { return host->server->kubeconfig().c_str(); }
BPT_API int bpt_host_process(const bpt_host* host) { return host->server->process(); }
BPT_API bpt_answer* bpt_host_log(const bpt_host* host) { return new bpt_answer{{200, host->server->log()}}; }

BPT_API bpt_answer* bpt_send(bpt_host* host, const char* method, const char* target, const char* type, const char* body, size_t size) {
  Response response =
      host->connection->send(method, target, text_or_empty(type), body == nullptr ? std::string() : std::string(body, size));
  if (response.code == 0) {
    const std::lock_guard lock(host->mutex);
    if (host->server->ended()) response.body = "the server has ended: " + response.body + "; its log:\n" + host->server->log();
  }
  return new bpt_answer{std::move(response)};
}

BPT_API bpt_answer* bpt_wait(bpt_host* host, const char* target, const char* name, int (*condition)(void*, const bpt_answer*),
                             void* context, uint32_t milliseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  const std::string one = item_target(target, name);
  bool again = true;
  bpt_answer* met = nullptr;
  while (met == nullptr && again) met = wait_round(*host, one, condition, context, until, again);
  return met;
}

BPT_API int bpt_answer_code(const bpt_answer* answer) { return answer->response.code; }

BPT_API const char* bpt_answer_body(const bpt_answer* answer, size_t* size) {
  if (size != nullptr) *size = answer->response.body.size();
  return answer->response.body.c_str();
}

BPT_API const char* bpt_answer_value(const bpt_answer* answer, const char* pointer) {
  const Value* found = answer->find(pointer);
  if (found == nullptr) return nullptr;
  std::string& text = answer->values[pointer];
  text = found->is_string() ? std::string(std::string_view(found->get_string())) : json::serialize(*found);
  return text.c_str();
}

BPT_API bpt_answer* bpt_answer_part(const bpt_answer* answer, const char* pointer) {
  if (*pointer == '\0') return new bpt_answer{answer->response};
  const Value* found = answer->find(pointer);
  return found == nullptr ? nullptr : new bpt_answer{{200, json::serialize(*found)}};
}

BPT_API void bpt_answer_release(bpt_answer* answer) { delete answer; }

BPT_API bpt_watch* bpt_watch_open(bpt_host* host, const char* target, char* error, size_t size) {
  const std::string path = target;
  auto events = host->connection->watch(path + (path.find('?') == std::string::npos ? "?" : "&") + "watch=true");
  const Response head = events->head();
  if (head.code == 200) return new bpt_watch{std::move(events)};
  copy_error(error, size, head.body);
  return nullptr;
}

BPT_API bpt_answer* bpt_watch_next(bpt_watch* watch, uint32_t milliseconds) {
  auto line = watch->events->next(std::chrono::milliseconds(milliseconds));
  return line ? new bpt_answer{{200, std::move(*line)}} : nullptr;
}

BPT_API int bpt_watch_ended(const bpt_watch* watch) { return watch->events->ended() ? 1 : 0; }

BPT_API void bpt_watch_close(bpt_watch* watch) {
  if (watch != nullptr) watch->events->close();
  delete watch;
}
