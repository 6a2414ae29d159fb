// A plugin that executes the actions in its configuration, most of which are faults.  The actions are separated by ';' or '+':
//   group=G/V    installs a group version          path=/p      handles a path
//   kind=G/V/K   makes a kind known                hook=H       adds a pre-shutdown hook that throws
//   start=H      adds a post-start hook that throws    stop=H   adds a pre-shutdown hook that reports "told/stop/H"
//   crash=/p     handles a path: writes to null    recurse=/p   handles a path: overflows its stack
//   loop=/p      handles a path: never returns     dynamic groups   takes the groups that can be published at run time
//   throw on executor   posts a function and arms a timer that throw      throw on stop   adds a callback of the stop signal that throws
//   throw in C   throws in the call C              fail in C    returns an error from it
//   loop in C    never returns from it
//   throw 7 in C throws something that is not a std::exception
// Without a configuration it executes the actions in the macro ACTOR_ACT, if the build defines it.
// It reports its life-cycle calls to the test by Host::flag("told/<call>/<configuration>").
#include <backplane/plugin.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/rest/api_group.hpp>
#include <backplane/rest/resource_config.hpp>
#include <backplane/rest/scheme.hpp>
#include <backplane/rest/standard_storage.hpp>
#include <backplane/rest/strategy.hpp>
#include <stdexcept>
#include <thread>
#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/schema.hpp"

#ifndef ACTOR_ACT
#define ACTOR_ACT ""
#endif

namespace {

using namespace backplane;

#ifdef ACTOR_THROWS_WHEN_LOADED
const int kTooEarly = []() -> int { throw std::runtime_error("thrown before the first call"); }();
#endif

class Nothing final : public RestStorage, public Scoper {
 public:
  bool namespaced() const override { return true; }
  GroupVersionKind kind() const override { return {"example.com", "v1", "Nothing"}; }
  const Schema* schema() const override { return nullptr; }
};

class NoHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange&) override { co_return; }
};

// Runs a faulty action on the connection's executor.
class WrongHandler final : public HttpHandler {
 public:
  explicit WrongHandler(void (*act)()) : act_(act) {}
  Task<void> handle(RequestContext&, Exchange&) override {
    act_();
    co_return;
  }

 private:
  void (*act_)();
};

void write_to_null() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

int overflow_stack(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow_stack(depth + 1) + room[0];
}
void recurse() { overflow_stack(0); }

void never_return() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

Task<Status> throw_in_hook() {
  throw std::runtime_error("thrown in a hook");
  co_return Status();
}

Task<Status> report(Host& host, std::string what) {
  (void)host.flag(what);
  co_return Status();
}

class Actor final : public Plugin {
 public:
  Actor() {
#ifdef ACTOR_THROWS_IN_CONSTRUCTOR
    throw std::runtime_error("the constructor has had enough");
#endif
  }
  ~Actor() override { record_call("destroy"); }

  Status configure(std::string_view config) override {
    act_ = std::string(config.empty() ? ACTOR_ACT : config);
    return react("configure");
  }

  Status provision(Host& host) override {
    host_ = &host;
    record_call("provision");
    for (std::string_view rest = act_; !rest.empty();) {
      const auto end = rest.find_first_of(";+");
      auto status = act(rest.substr(0, end));
      if (!status.ok()) return status;
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return react("provision");
  }

  Status validate() override {
    record_call("validate");
    return react("validate");
  }

 private:
  Status act(std::string_view word) {
    if (word.starts_with("path=")) return host_->handle({std::string(word.substr(5)), false, true, std::make_shared<NoHandler>()});
    if (word.starts_with("hook=")) return host_->add_pre_shutdown_hook(std::string(word.substr(5)), throw_in_hook);
    if (word.starts_with("start=")) {
      return host_->add_post_start_hook(std::string(word.substr(6)), [](PostStartHookContext) { return throw_in_hook(); });
    }
    if (word.starts_with("stop=")) {
      const std::string name(word.substr(5));
      return host_->add_pre_shutdown_hook(name, [host = host_, name] { return report(*host, "told/stop/" + name); });
    }
    if (word == "dynamic groups") (void)host_->dynamic_groups();
    if (word.starts_with("kind=")) return make_known(word.substr(5));
    if (word.starts_with("crash=")) return handle_wrongly(word.substr(6), write_to_null);
    if (word.starts_with("recurse=")) return handle_wrongly(word.substr(8), recurse);
    if (word.starts_with("loop=")) return handle_wrongly(word.substr(5), never_return);
    if (word == "throw on stop") host_->stop_signal().on_fire([] { throw std::runtime_error("thrown on stop"); });
    if (word == "throw on executor") {
      host_->executor().post([] { throw std::runtime_error("thrown by what was posted"); });
      host_->executor().after(std::chrono::milliseconds(1), [] { throw 7; });
    }
    if (!word.starts_with("group=")) return {};
    const auto version = GroupVersion::parse(word.substr(6));
    APIGroupInfo info;
    info.group = version.group;
    info.prioritized_versions = {version.version};
    info.storages[version.version]["nothings"] = std::make_shared<Nothing>();
    return host_->install_api_group(std::move(info));
  }

  Status handle_wrongly(std::string_view path, void (*act)()) {
    return host_->handle({std::string(path), false, true, std::make_shared<WrongHandler>(act)});
  }

  Status make_known(std::string_view kind) {
    const auto slash = kind.rfind('/');
    const auto version = GroupVersion::parse(kind.substr(0, slash));
    return host_->scheme().add_known_type({version.group, version.version, std::string(kind.substr(slash + 1))}, nullptr, nullptr,
                                          "an actor");
  }

  Status react(const std::string& call) const {
    if (act_.find("throw in " + call) != std::string::npos) throw std::runtime_error("thrown in " + call);
    if (act_.find("throw 7 in " + call) != std::string::npos) throw 7;
    if (act_.find("loop in " + call) != std::string::npos) {
      if (host_ != nullptr) host_->logger().info("looping call=" + call);
      never_return();
    }
    if (act_.find("fail in " + call) != std::string::npos) return Status(Reason::kInvalid, "refused in " + call);
    return {};
  }

  void record_call(const std::string& call) const {
    if (host_) (void)host_->flag("told/" + call + "/" + act_);
  }

  std::string act_;
  Host* host_ = nullptr;
};

}  // namespace

#ifdef ACTOR_IS_NULL
extern "C" __attribute__((visibility("default"))) backplane::Plugin* backplane_plugin_create() { return nullptr; }
#else
BACKPLANE_PLUGIN(Actor)
#endif
