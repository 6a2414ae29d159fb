// Attributes code to plugins: the plugin of an address, the lifecycle call in progress, and a line about both if the process crashes.
//
// Thread-safety: any thread. Crash handlers use only memory that was written before the crash.
// Lifetime:      of the process; the code of a remembered file is mapped until forget_plugin_code().
// Errors:        none; beyond 256 plugins at once, further ones are not found by address.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

// The build of a plugin that is about to be loaded, for the record of a crash.
struct PluginBuild {
  std::string file, version, digest;
};
void note_build(const std::string& plugin, PluginBuild build);

// Records the mapped file that contains `address` as the plugin's.  `file`: the operator's path, not the private copy.
void remember_plugin_code(const std::string& plugin, const std::string& file, const void* address);

// Before the file that `address` lies in is unmapped.  Null: without effect.
void forget_plugin_code(const void* address);
// Whether a thread other than this one has code of the file that `address` lies in on its stack, or does not respond within `patience`.
bool is_code_running(const void* address, std::chrono::milliseconds patience);

// A call of the host into a plugin while it is loaded: "constructor", "configure()".  The process records one call: a nested scope replaces
// the record of the outer one and clears it at its end.
class LifecycleCallScope {
 public:
  LifecycleCallScope(const std::string& plugin, const char* call);
  ~LifecycleCallScope();
  LifecycleCallScope(const LifecycleCallScope&) = delete;
  LifecycleCallScope& operator=(const LifecycleCallScope&) = delete;
};
struct RunningCall {
  std::string plugin;
  std::string call;
};
std::optional<RunningCall> running_lifecycle_call();

// A call into a plugin that this thread makes from now on, for the record of a crash on this thread; null: none.  `call`: static.
// A LifecycleCallScope of the thread takes precedence.
void note_call_of_this_thread(const char* call) noexcept;

// From here on SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write one line to standard error before they do what they did without it (a core
// dump, the exit status of the signal): the signal, the plugin whose code is innermost on the stack, its file and the offset in it.
// Builds with sanitizers leave that to the sanitizer.
void report_crashes();
// Where the line of a crash is written as well, its fields separated by tabs: signal, plugin, version, file, digest, place, call, thread.
// -1: nowhere.  The descriptor stays open.
void record_crashes_in(int descriptor) noexcept;

// Threads that have a plugin's code on their stack right now.
struct ThreadInPlugin {
  std::string thread, plugin, place;  // place: "/path/x.so+0x1234"
};
std::vector<ThreadInPlugin> threads_in_plugins(std::chrono::milliseconds patience);

}  // namespace backplane
