#include "plugin/runner_main.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "plugin/plugin_code.hpp"
#include "runner/child.hpp"
#include "runner/process.hpp"

namespace backplane {

void run_runner(const std::vector<std::string>& words) {
  constexpr std::size_t kWords = 4;
  if (words.size() != kWords || ::fcntl(runner::kSocketDescriptor, F_GETFD) < 0 || ::fcntl(runner::kCrashRecordDescriptor, F_GETFD) < 0) {
    std::fputs("backplane plugin runner: the server starts it; see --plugin-placement\n", stderr);
    ::_exit(1);
  }
  // The kernel kills this process when the server is killed. The end of the channel also ends it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close_range(runner::kCrashRecordDescriptor + 1, ~0U, 0);
  // Programs that the plugin starts do not inherit the descriptors.
  ::fcntl(runner::kSocketDescriptor, F_SETFD, FD_CLOEXEC);
  ::fcntl(runner::kCrashRecordDescriptor, F_SETFD, FD_CLOEXEC);
  report_crashes();
  record_crashes_in(runner::kCrashRecordDescriptor);
  const std::string &name = words[1], &shown = words[3];
  note_build(name, {shown, words[2], {}});
  runner::ChildEvents events;
  events.mapped = [name, shown](const void* entry) { remember_plugin_code(name, shown, entry); };
  events.lifecycle = [name](const char* call) -> std::shared_ptr<void> { return std::make_shared<LifecycleCallScope>(name, call); };
  events.running = note_call_of_this_thread;
  runner::Child child(runner::kSocketDescriptor, words[0], std::move(events));
  child.run();
  std::fflush(nullptr);
  ::_exit(0);  // threads of the plugin may run
}

}  // namespace backplane
