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

// Call it before the file that contains `address` is unmapped. A null address has no effect.
void forget_plugin_code(const void* address);
// True if a thread other than this one has code of the file that contains `address` on its stack, or does not respond within `timeout`.
bool is_code_running(const void* address, std::chrono::milliseconds timeout);

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

// Sets the call into a plugin that this thread makes, for the record of a crash on this thread; null: none. `call` is a static text. A
// LifecycleCallScope of the thread takes precedence.
void note_call_of_this_thread(const char* call) noexcept;

// Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. A handler writes one line to standard error: the signal, the plugin
// whose code is innermost on the stack, its file and the offset in it. Then the signal has its default effect (a core dump, the exit
// status). Builds with sanitizers install nothing.
void report_crashes();
// The line of a crash is also written to `descriptor`, with its fields separated by tabs: signal, plugin, version, file, digest, place,
// call, thread. -1: it is not. The caller keeps the descriptor open.
void record_crashes_in(int descriptor) noexcept;

// Threads that have code of a plugin on their stack.
struct ThreadInPlugin {
  std::string thread, plugin, place;  // place: "/path/x.so+0x1234"
};
std::vector<ThreadInPlugin> threads_in_plugins(std::chrono::milliseconds timeout);

}  // namespace backplane
