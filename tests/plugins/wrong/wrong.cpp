// A plugin with one fault. Tests write the fault into the built file: the bytes after "FAULT=" are "HOW in WHERE", followed by a blank.
//
//   WHERE  load (static initializer), constructor, configure, provision, validate, task, hook (post-start), request (/wrong/NAME),
//          finish (pre-shutdown hook), destructor
//   HOW    throw, throw7 (no std::exception), fail (an error Status), segv, abort, exit (exit(3)), exit0 (_exit(0)), loop (does not
//          return), recurse (overflows its stack), fork (leaves a child process), threads (leaves a thread), terminate (throws out of a
//          noexcept function)
// "twice KIND" registers something a second time in provision(): group, path, hook, check, admission, authorizer.  "no KIND" registers a
// null object.  "taken group" installs a group version of the core plugin.
#include <unistd.h>

#include <backplane/plugin.hpp>
#include <backplane/points/admission.hpp>
#include <backplane/points/authorization.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/rest/api_group.hpp>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"

namespace {

using namespace backplane;

__attribute__((used)) const volatile char g_fault[] = "FAULT=none                                ";

std::string fault() {
  std::string out;
  for (std::size_t i = 6; g_fault[i] != '\0'; ++i) out += g_fault[i];
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

int overflow_stack(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow_stack(depth + 1) + room[0];
}
void never_return() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}
[[noreturn]] void throw_error() { throw std::runtime_error("thrown out of a noexcept function"); }
void throw_out_of_noexcept() noexcept { throw_error(); }
void write_to_null() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}
void leave_child() {
  if (::fork() == 0) {
    for (;;) ::pause();
  }
}

struct Action {
  const char* how;
  void (*act)();
};
const Action kActions[] = {
    {"throw", [] { throw std::runtime_error("thrown on purpose"); }},
    {"throw7", [] { throw 7; }},
    {"segv", write_to_null},
    {"abort", [] { std::abort(); }},
    {"exit", [] { std::exit(3); }},
    {"exit0", [] { ::_exit(0); }},
    {"loop", never_return},
    {"recurse", [] { overflow_stack(0); }},
    {"fork", leave_child},
    {"threads", [] { std::thread(never_return).detach(); }},
    {"terminate", throw_out_of_noexcept},
};

// A name for this fault, such as "segv-in-load", so that copies with other faults have different names.
std::string slug() {
  std::string out = fault();
  for (char& c : out) {
    if (c == ' ') c = '-';
  }
  return out;
}

// Executes the fault of `where`.
Status act(const std::string& where) {
  const std::string text = fault();
  const auto in = text.find(" in ");
  if (in == std::string::npos || text.substr(in + 4) != where) return {};
  const std::string how = text.substr(0, in);
  if (how == "fail") return Status(Reason::kInvalid, "refused on purpose");
  for (const auto& action : kActions) {
    if (how == action.how) action.act();
  }
  return {};
}

const int kLoaded = [] {
  (void)act("load");
  return 0;
}();

class Nothing final : public RestStorage, public Scoper {
 public:
  bool namespaced() const override { return true; }
  GroupVersionKind kind() const override { return {"wrong.example.com", "v1", "Nothing"}; }
  const Schema* schema() const override { return nullptr; }
};

class WrongHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    const Status status = act("request");
    std::vector<SharedBytes> body;
    body.push_back(SharedBytes::from_static("served\n"));
    co_await exchange.respond(status.ok() ? 200 : 500, "text/plain", std::move(body));
  }
};
class WrongCheck final : public HealthCheck {
 public:
  std::string name() const override { return "wrong"; }
  Task<Status> check() override { co_return Status(); }
};
class WrongAdmission final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "Wrong"; }
  bool handles(AdmissionOperation) const noexcept override { return false; }
};
class WrongAuthorizer final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "wrong"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override { co_return AuthorizerResult{Decision::kNoOpinion, "", {}}; }
};

Task<Status> in_hook(const char* where) { co_return act(where); }
Task<void> in_task() {
  (void)act("task");
  co_return;
}

APIGroupInfo group_of(const std::string& group, const std::string& version, std::shared_ptr<RestStorage> storage) {
  APIGroupInfo info;
  info.group = group;
  info.prioritized_versions = {version};
  info.storages[version]["nothings"] = std::move(storage);
  return info;
}

struct Registration {
  const char* kind;
  Status (*add)(Host& host, bool null);
};
const Registration kRegistrations[] = {
    {"group",
     [](Host& host, bool null) {
       return host.install_api_group(group_of("wrong.example.com", "v1", null ? nullptr : std::make_shared<Nothing>()));
     }},
    {"path",
     [](Host& host, bool null) {
       return host.handle({"/wrong/twice", false, true, null ? nullptr : std::make_shared<WrongHandler>()});
     }},
    {"hook",
     [](Host& host, bool null) {
       return host.add_post_start_hook(
           "twice", null ? PostStartHook() : [](PostStartHookContext) { return in_hook("none"); });
     }},
    {"check", [](Host& host, bool null) { return host.add_health_check(null ? nullptr : std::make_shared<WrongCheck>(), {}); }},
    {"admission",
     [](Host& host, bool null) {
       return null ? host.register_admission(AdmissionRegistration()) : host.register_admission(std::make_shared<WrongAdmission>());
     }},
    {"authorizer", [](Host& host, bool null) { return host.register_authorizer(null ? nullptr : std::make_shared<WrongAuthorizer>()); }},
};

Status register_wrongly(Host& host) {
  const std::string text = fault();
  if (text == "taken group") return host.install_api_group(group_of("", "v1", std::make_shared<Nothing>()));
  for (const auto& row : kRegistrations) {
    if (text == std::string("no ") + row.kind) return row.add(host, true);
    if (text != std::string("twice ") + row.kind) continue;
    Status status = row.add(host, false);
    return status.ok() ? row.add(host, false) : status;
  }
  return {};
}

class Wrong final : public Plugin {
 public:
  Wrong() { (void)act("constructor"); }
  ~Wrong() override { (void)act("destructor"); }
  Status configure(std::string_view) override { return act("configure"); }
  Status provision(Host& host) override {
    if (Status status = register_wrongly(host); !status.ok()) return status;
    if (Status status = host.handle({"/wrong/" + slug(), false, true, std::make_shared<WrongHandler>()}); !status.ok()) return status;
    if (Status status = host.add_post_start_hook(slug(), [](PostStartHookContext) { return in_hook("hook"); }); !status.ok()) return status;
    if (Status status = host.add_pre_shutdown_hook(slug(), [] { return in_hook("finish"); }); !status.ok()) return status;
    host.spawn("wrong", in_task());
    return act("provision");
  }
  Status validate() override { return act("validate"); }
};

}  // namespace

BACKPLANE_PLUGIN(Wrong)
