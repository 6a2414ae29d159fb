#include "plugin/plugin_code.hpp"

#include <dirent.h>
#include <execinfo.h>
#include <link.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "base/caught.hpp"
#include "base/interrupted_instruction.hpp"
#include "base/signal_stack.hpp"

namespace backplane {
namespace {

// ---- addresses.  A row is valid while its `end`, which is written last, is not 0.

template <std::size_t N>
void copy_text(std::array<char, N>& to, const std::string& text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(to.data(), text.data(), size);
  to[size] = '\0';
}

struct CodeRange {
  std::atomic<std::uintptr_t> base{0}, begin{0}, end{0};
  std::array<char, 128> plugin{};
  std::array<char, 512> file{};
  std::array<char, 64> version{};
  std::array<char, 72> digest{};
};
constexpr std::size_t kMaxPlugins = 256;
std::array<CodeRange, kMaxPlugins> g_ranges;
std::atomic<std::size_t> g_range_count{0};
std::mutex g_ranges_mutex;  // writers

const CodeRange* range_of(std::uintptr_t address) noexcept {
  const std::size_t count = g_range_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const CodeRange& row = g_ranges[i];
    if (address < row.end.load(std::memory_order_acquire) && row.begin.load() <= address) return &row;
  }
  return nullptr;
}

struct Search {
  std::uintptr_t address;
  std::uintptr_t base = 0, begin = 0, end = 0;
};

int look_at_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min<std::uintptr_t>(begin, object->dlpi_addr + segment.p_vaddr);
    end = std::max<std::uintptr_t>(end, object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (search.address < begin || search.address >= end) return 0;
  search.base = object->dlpi_addr;
  search.begin = begin;
  search.end = end;
  return 1;
}

// ---- the current call: text in fixed memory, so that a signal handler may read it.

std::mutex g_call_mutex;
struct CallText {
  std::array<char, 128> plugin{};
  std::array<char, 32> call{};
  std::array<char, 512> file{};
  std::array<char, 64> version{};
  std::array<char, 72> digest{};
};
CallText g_call;
std::atomic<bool> g_in_call{false};
std::atomic<pid_t> g_call_thread{0};
std::atomic<int> g_crash_file{-1};
thread_local const char* t_call = nullptr;

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }
// Whether this thread is the one in the call.
bool in_call_here() noexcept { return g_in_call.load() && g_call_thread.load() == this_thread(); }

// Builds that have been loaded, by plugin.
std::map<std::string, PluginBuild>& noted_builds() {
  static auto* builds = new std::map<std::string, PluginBuild>();
  return *builds;
}
std::mutex g_builds_mutex;

template <class Row>
void copy_build(Row& row, const std::string& plugin) {
  const std::lock_guard lock(g_builds_mutex);
  const auto found = noted_builds().find(plugin);
  const PluginBuild build = found == noted_builds().end() ? PluginBuild() : found->second;
  copy_text(row.version, build.version);
  copy_text(row.digest, build.digest);
  if (!build.file.empty()) copy_text(row.file, build.file);
}

// ---- a line, without memory and locks

class SignalLine {
 public:
  SignalLine& text(const char* words) noexcept {
    while (*words != '\0' && size_ < sizeof(bytes_) - 1) bytes_[size_++] = *words++;
    return *this;
  }
  SignalLine& hex(std::uintptr_t number) noexcept {
    char digits[20] = "0x";
    const auto end = std::to_chars(digits + 2, digits + sizeof(digits) - 1, number, 16).ptr;
    *end = '\0';
    return text(digits);
  }
  void write(int descriptor = STDERR_FILENO) noexcept {
    bytes_[size_++] = '\n';
    [[maybe_unused]] const auto written = ::write(descriptor, bytes_, size_);
  }

 private:
  char bytes_[2048];
  std::size_t size_ = 0;
};

struct Innermost {
  const CodeRange* range = nullptr;
  std::uintptr_t address = 0;
};

// The plugin whose code is innermost on this thread's stack; or `wanted`, if its code is anywhere on it.
Innermost innermost_plugin(const CodeRange* wanted = nullptr) noexcept {
  constexpr int kFrames = 128;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  for (int i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
    const CodeRange* range = range_of(address);
    if (range != nullptr && (wanted == nullptr || range == wanted)) return {range, address};
  }
  return {};
}

// ---- crashes

struct CrashSignal {
  int number;
  const char* name;
};
constexpr CrashSignal kCrashSignals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"},
};
std::atomic<bool> g_reported{false};

const char* name_of(int number) noexcept {
  for (const auto& signal : kCrashSignals) {
    if (signal.number == number) return signal.name;
  }
  return "?";
}

// If no code of a plugin is on the stack, a crash during a lifecycle call of this thread is attributed to the plugin of that call.
void record_crash(int number, const Innermost& in) noexcept {
  if (g_crash_file.load() < 0) return;
  char thread[16] = "";
  prctl(PR_GET_NAME, thread);
  const bool in_call = in_call_here();
  SignalLine line;
  line.text(name_of(number)).text("\t");
  if (in.range != nullptr) {
    line.text(in.range->plugin.data()).text("\t").text(in.range->version.data()).text("\t").text(in.range->file.data()).text("\t");
    line.text(in.range->digest.data()).text("\t").text(in.range->file.data()).text("+").hex(in.address - in.range->base).text("\t");
  } else if (in_call) {
    line.text(g_call.plugin.data()).text("\t").text(g_call.version.data()).text("\t").text(g_call.file.data()).text("\t");
    line.text(g_call.digest.data()).text("\t\t");
  } else {
    line.text("\t\t\t\t\t");
  }
  if (in_call) {
    line.text(g_call.call.data());
  } else if (t_call != nullptr) {
    line.text(t_call);
  }
  line.text("\t").text(thread);
  line.write(g_crash_file.load());
}

void report_crash(int number, const siginfo_t* info, const void* context) noexcept {
  const std::uintptr_t at = interrupted_instruction(context);
  Innermost in{range_of(at), at};
  // Unwinding a corrupt stack may not end: SIGALRM then ends the process.
  alarm(5);
  if (in.range == nullptr) in = innermost_plugin();
  alarm(0);
  SignalLine line;
  line.text("fatal signal=").text(name_of(number));
  if (in.range != nullptr) {
    line.text(" plugin=")
        .text(in.range->plugin.data())
        .text(" place=")
        .text(in.range->file.data())
        .text("+")
        .hex(in.address - in.range->base);
    if (in.address != at) line.text(" (below it on the stack: the host or a library)");
  } else {
    line.text(" plugin=none instruction=").hex(at);
  }
  if (number != SIGABRT) line.text(" address=").hex(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if (g_in_call.load()) line.text(" while plugin=").text(g_call.plugin.data()).text(" call=").text(g_call.call.data());
  line.write();
  record_crash(number, in);
}

// Installed with SA_RESETHAND: on return the default action is in effect again.
void on_crash(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (!g_reported.exchange(true)) report_crash(number, info, context);
  // A fault recurs on return; a signal of another process or of raise() does not, so it is raised again.
  if (info->si_code <= 0) raise(number);
  errno = saved;
}

// ---- threads

struct Sample {
  sem_t done;
  std::atomic<const CodeRange*> range{nullptr};
  std::atomic<std::uintptr_t> address{0};
  std::atomic<const CodeRange*> wanted{nullptr};  // null: the innermost plugin
};
Sample g_sample;
std::mutex g_sample_mutex;

int sample_signal() { return SIGRTMIN + 7; }

void on_sample(int, siginfo_t*, void* context) {
  const int saved = errno;
  const std::uintptr_t at = interrupted_instruction(context);
  const CodeRange* const wanted = g_sample.wanted.load();
  Innermost in{range_of(at), at};
  if (in.range == nullptr || (wanted != nullptr && in.range != wanted)) in = innermost_plugin(wanted);
  g_sample.address = in.address;
  g_sample.range = in.range;
  sem_post(&g_sample.done);
  errno = saved;
}

bool wait_for_sample(std::chrono::milliseconds timeout) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  const auto nanoseconds = until.tv_nsec + std::chrono::nanoseconds(timeout).count();
  until.tv_sec += nanoseconds / 1'000'000'000;
  until.tv_nsec = nanoseconds % 1'000'000'000;
  while (sem_timedwait(&g_sample.done, &until) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

std::vector<pid_t> other_threads() {
  std::vector<pid_t> out;
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return out;
  while (const dirent* entry = readdir(folder)) {
    const pid_t thread = std::atoi(entry->d_name);
    if (thread > 0 && thread != self) out.push_back(thread);
  }
  closedir(folder);
  return out;
}

// The unwinder allocates memory at its first use, which must not be in a signal handler.
void load_unwinder() noexcept {
  void* frame = nullptr;
  backtrace(&frame, 1);
}

void begin_sampling(const CodeRange* wanted) {
  load_unwinder();
  sem_init(&g_sample.done, 0, 0);
  g_sample.wanted = wanted;
  struct sigaction action {};
  action.sa_sigaction = on_sample;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(sample_signal(), &action, nullptr);
}

std::string name_of_thread(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::string hex(std::uintptr_t number) {
  char digits[20];
  return {digits, std::to_chars(digits, digits + sizeof(digits), number, 16).ptr};
}

}  // namespace

void note_build(const std::string& plugin, PluginBuild build) {
  const std::lock_guard lock(g_builds_mutex);
  noted_builds()[plugin] = std::move(build);
}

void record_crashes_in(int descriptor) noexcept { g_crash_file.store(descriptor); }

void remember_plugin_code(const std::string& plugin, const std::string& file, const void* address) {
  const std::lock_guard lock(g_ranges_mutex);
  const std::size_t count = g_range_count.load();
  Search search{reinterpret_cast<std::uintptr_t>(address)};
  std::size_t free = 0;
  while (free < count && g_ranges[free].end.load() != 0) ++free;
  if (free == kMaxPlugins || dl_iterate_phdr(look_at_object, &search) == 0) return;
  CodeRange& row = g_ranges[free];
  copy_text(row.plugin, plugin);
  copy_text(row.file, file);
  copy_build(row, plugin);
  row.base.store(search.base);
  row.begin.store(search.begin);
  row.end.store(search.end, std::memory_order_release);
  if (free == count) g_range_count.store(count + 1, std::memory_order_release);
}

void forget_plugin_code(const void* address) {
  const std::lock_guard lock(g_ranges_mutex);
  const CodeRange* found = range_of(reinterpret_cast<std::uintptr_t>(address));
  if (found != nullptr) g_ranges[static_cast<std::size_t>(found - g_ranges.data())].end.store(0);
}

LifecycleCallScope::LifecycleCallScope(const std::string& plugin, const char* call) {
  const std::lock_guard lock(g_call_mutex);
  copy_text(g_call.plugin, plugin);
  copy_text(g_call.call, call);
  copy_text(g_call.file, std::string());
  copy_build(g_call, plugin);
  g_call_thread.store(this_thread());
  g_in_call.store(true);
}
LifecycleCallScope::~LifecycleCallScope() { g_in_call.store(false); }

void note_call_of_this_thread(const char* call) noexcept { t_call = call; }

std::optional<RunningCall> running_lifecycle_call() {
  const std::lock_guard lock(g_call_mutex);
  if (!g_in_call.load()) return std::nullopt;
  return RunningCall{g_call.plugin.data(), g_call.call.data()};
}

void report_crashes() {
  if (!kRecordsThrowStacks) return;
  static const SignalStack stack;
  load_unwinder();
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (const auto& signal : kCrashSignals) sigaction(signal.number, &action, nullptr);
}

bool is_code_running(const void* address, std::chrono::milliseconds timeout) {
  const CodeRange* const wanted = range_of(reinterpret_cast<std::uintptr_t>(address));
  if (wanted == nullptr) return false;
  const std::lock_guard lock(g_sample_mutex);
  begin_sampling(wanted);
  for (const pid_t thread : other_threads()) {
    if (syscall(SYS_tgkill, getpid(), thread, sample_signal()) != 0) continue;  // it has ended
    if (!wait_for_sample(timeout) || g_sample.range.load() == wanted) return true;
  }
  return false;
}

std::vector<ThreadInPlugin> threads_in_plugins(std::chrono::milliseconds timeout) {
  const std::lock_guard lock(g_sample_mutex);
  begin_sampling(nullptr);
  std::vector<ThreadInPlugin> out;
  for (const pid_t thread : other_threads()) {
    if (syscall(SYS_tgkill, getpid(), thread, sample_signal()) != 0) continue;
    if (!wait_for_sample(timeout)) continue;
    const CodeRange* range = g_sample.range.load();
    if (range == nullptr) continue;
    out.push_back({name_of_thread(thread), range->plugin.data(),
                   std::string(range->file.data()) + "+0x" + hex(g_sample.address.load() - range->base)});
  }
  return out;
}

}  // namespace backplane
