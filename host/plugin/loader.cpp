#include "plugin/loader.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>

#include "backplane/rest/store_hooks.hpp"
#include "base/fenced.hpp"
#include "plugin/carried_documents.hpp"
#include "plugin/content_digest.hpp"
#include "plugin/elf_file.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_code.hpp"
#include "plugin/symbol_check.hpp"
#include "stable/bridge.hpp"

namespace backplane {

namespace {

namespace fs = std::filesystem;

void add(Findings& findings, std::string_view code, std::string field, std::string found, std::string message, std::string fix = {}) {
  findings.push_back({code, Severity::kError, std::move(field), {}, std::move(found), std::move(message), std::move(fix)});
}

// Removes the directories of ended processes (kill -9 leaves them).
void remove_leftovers(const std::string& base) {
  std::error_code error;
  for (fs::directory_iterator entries(base, error); !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const auto name = entries->path().filename().string();
    if (!name.starts_with("gen-")) continue;
    pid_t pid = 0;
    const auto [end, bad] = std::from_chars(name.data() + 4, name.data() + name.size(), pid);
    if (bad != std::errc() || pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    fs::remove_all(entries->path(), ignored);
  }
}

bool copy_bytes(const RegularFile& from, int to) {
  off_t offset = 0;
  while (static_cast<std::uint64_t>(offset) < from.size()) {
    const auto copied = ::sendfile(to, from.descriptor(), &offset, from.size() - static_cast<std::uint64_t>(offset));
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) return false;
  }
  return true;
}

// Plugin names are unique, file names in two directories may be equal.  No name contains '_' or '+'.
std::string copy_name(std::string plugin) {
  static std::atomic<unsigned> sequence{0};  // builds of one plugin are loaded one after another
  std::replace(plugin.begin(), plugin.end(), '/', '_');
  std::replace(plugin.begin(), plugin.end(), ':', '+');
  return plugin + "-" + std::to_string(sequence.fetch_add(1)) + ".so";
}

std::optional<std::string> copy_file(const InspectedPlugin& inspected, const GenerationDirectory& directory, Findings& findings) {
  const auto file = RegularFile::open(inspected.path, findings);
  if (!file) return std::nullopt;
  const auto path = directory.path() + "/" + copy_name(inspected.descriptor->name);
  const int to = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  const bool copied = to >= 0 && copy_bytes(*file, to) && ::fchmod(to, 0500) == 0;
  const int error = errno;
  if (to >= 0) ::close(to);
  if (copied) return path;
  add(findings, finding_code::kCannotCopy, path, {}, std::string("no private copy could be made: ") + std::strerror(error),
      "check space and permissions of the data directory");
  return std::nullopt;
}

// The file may have been replaced since its inspection; the mapped file must be the planned one.
bool matches_inspection(const std::string& copy, const InspectedPlugin& inspected, Findings& findings) {
  const auto again = inspect_plugin(copy);
  const bool same = again.descriptor && inspected.descriptor && !has_errors(again.findings) &&
                    again.descriptor->json == inspected.descriptor->json &&
                    again.descriptor->stable_abi == inspected.descriptor->stable_abi &&
                    std::memcmp(&again.descriptor->head, &inspected.descriptor->head, sizeof(bp_note_head)) == 0 &&
                    (inspected.checked_digest.empty() || content_digest(copy) == inspected.checked_digest);
  if (!same) add(findings, finding_code::kChanged, "file", {}, "the file changed between inspection and loading", "start again");
  return same;
}

// `text` is the dynamic loader's message.
void add_load_error(const std::string& text, Findings& findings) {
  static constexpr std::string_view kUndefined = "undefined symbol: ";
  const auto at = text.find(kUndefined);
  if (at != std::string::npos) {
    const auto from = at + kUndefined.size();
    const auto symbol = text.substr(from, text.find_first_of(" ,)", from) - from);
    findings.push_back(undefined_symbol(symbol));
    return;
  }
  add(findings, finding_code::kLoadFailed, "load", {}, text);
}

// While an object exists, a process exit is attributed to the plugin that is being loaded.
class LoadWatch {
 public:
  explicit LoadWatch(const InspectedPlugin& plugin) : previous_handler_(std::set_terminate(&log_and_abort)) {
    plugin_ = &plugin;
    plugin_details().info("loading plugin={} file={}", plugin.display_name(), plugin.path);
    flush_logs();
  }
  ~LoadWatch() {
    plugin_ = nullptr;
    std::set_terminate(previous_handler_);
  }
  LoadWatch(const LoadWatch&) = delete;
  LoadWatch& operator=(const LoadWatch&) = delete;

 private:
  static std::string current_exception_text() {
    const auto exception = std::current_exception();
    if (!exception) return "std::terminate() was called";
    return fenced_status([&]() -> Status { std::rethrow_exception(exception); }).status.message();
  }
  [[noreturn]] static void log_and_abort() {
    const auto* plugin = plugin_.load();
    plugin_log().error("the process terminates while loading plugin={} file={}: {} {} (static initializers must not throw)",
                       plugin ? plugin->display_name() : "?", plugin ? plugin->path : "?", finding_code::kLoadFailed,
                       current_exception_text());
    flush_logs();
    std::abort();
  }

  static inline std::atomic<const InspectedPlugin*> plugin_{nullptr};
  std::terminate_handler previous_handler_;
};

// Maps the file and runs its static initializers; returns the dynamic loader's error, or an empty text.  An exception of an
// initializer would leave the dynamic loader with its lock held, so the process exits; the log names the file.
std::string map_file(boost::dll::shared_library& library, const std::string& path) {
  std::error_code error;
  try {
    library.load(path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local, error);
  } catch (...) {
    std::terminate();  // explicitly and not by noexcept, with which g++ 12 loses the exception
  }
  if (!error) return {};
  const char* text = ::dlerror();
  return text ? text : error.message();
}

// Keeps the code mapped until the process ends. The list stays reachable, so that a leak checker does not report it.
void keep_mapped(boost::dll::shared_library library) {
  static std::mutex mutex;
  static auto* libraries = new std::vector<boost::dll::shared_library>();
  const std::lock_guard lock(mutex);
  libraries->push_back(std::move(library));
}

const char* entry_symbol(const InspectedPlugin& inspected) { return inspected.descriptor->is_stable() ? BP_STABLE_ENTRY : BP_ENTRY_SYMBOL; }

// The plugin or the error that the entry point at `entry` returns; null if the entry point returned neither.
Result<std::unique_ptr<Plugin>> make_plugin_of(const InspectedPlugin& inspected, const void* entry) {
  if (inspected.descriptor->is_stable()) {
    return stable::make_plugin(reinterpret_cast<stable::Entry>(reinterpret_cast<std::uintptr_t>(entry)), inspected.display_name());
  }
  return std::unique_ptr<Plugin>(reinterpret_cast<Plugin* (*)()>(reinterpret_cast<std::uintptr_t>(entry))());
}

std::unique_ptr<Plugin> call_entry(const void* entry, const InspectedPlugin& inspected, Findings& findings) {
  remember_plugin_code(inspected.display_name(), inspected.path, entry);
  const LifecycleCallScope running(inspected.display_name(), "constructor");
  std::unique_ptr<Plugin> plugin;
  const auto call = fenced_status([&]() -> Status {
    auto made = make_plugin_of(inspected, entry);
    if (!made.ok()) return std::move(made).status();
    plugin = std::move(*made);
    return {};
  });
  if (!call.status.ok()) {
    add(findings, finding_code::kCreateThrew, "constructor", {},
        std::string("the plugin's constructor ") + (call.threw ? "threw: " : "failed: ") + call.status.message());
  } else if (!plugin) {
    add(findings, finding_code::kCreateNull, "entry", {}, "the entry point returned null");
  }
  return plugin;
}

// The text of a failed startup: it is for the operator, not for an API client.
Status cannot_make(const std::string& path, const std::string& why) {
  return Status(Reason::kInternalError, "cannot make the directory for plugin copies " + path + ": " + why);
}

}  // namespace

Result<GenerationDirectory> GenerationDirectory::create(const std::string& base) {
  static std::atomic<unsigned> sequence{0};
  std::error_code error;
  const auto root = base.empty() ? (fs::temp_directory_path(error) / ("backplane-plugins-" + std::to_string(::getuid()))).string() : base;
  if (!error) fs::create_directories(root, error);
  if (error) return cannot_make(root, error.message());
  remove_leftovers(root);
  GenerationDirectory directory;
  const auto path = root + "/gen-" + std::to_string(::getpid()) + "-" + std::to_string(sequence.fetch_add(1));
  fs::remove_all(path, error);  // of an earlier process with the same process id
  if (::mkdir(path.c_str(), 0700) != 0) {
    return cannot_make(path, std::strerror(errno));
  }
  directory.path_ = path;
  return directory;
}

GenerationDirectory::GenerationDirectory(GenerationDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
GenerationDirectory& GenerationDirectory::operator=(GenerationDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}
GenerationDirectory::~GenerationDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

struct MappedCode::State {
  boost::dll::shared_library library;
  std::string copy;
  const void* entry = nullptr;
};

MappedCode::MappedCode() = default;
MappedCode::MappedCode(MappedCode&&) noexcept = default;
MappedCode& MappedCode::operator=(MappedCode&&) noexcept = default;
MappedCode::~MappedCode() {
  if (state_ && state_->library.is_loaded()) keep_mapped(std::move(state_->library));
}

const std::string& MappedCode::copy() const noexcept {
  static const std::string kNone;
  return state_ ? state_->copy : kNone;
}

const void* MappedCode::address() const noexcept { return state_ ? state_->entry : nullptr; }

MappedCode::Unmapped MappedCode::unmap() {
  constexpr std::chrono::milliseconds kSampleTimeout{100};
  if (!state_) return Unmapped::kDone;
  if (state_->entry != nullptr && is_code_running(state_->entry, kSampleTimeout)) return Unmapped::kRunning;
  forget_plugin_code(state_->entry);
  state_->library.unload();
  void* const still = ::dlopen(state_->copy.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  std::error_code ignored;
  fs::remove(state_->copy, ignored);
  state_.reset();
  if (still != nullptr) ::dlclose(still);
  return still == nullptr ? Unmapped::kDone : Unmapped::kKept;
}

class PluginLoading {
 public:
  // A private copy that this process does not map.
  static MappedCode keep(std::string copy) {
    MappedCode code;
    code.state_ = std::make_unique<MappedCode::State>();
    code.state_->copy = std::move(copy);
    return code;
  }
  static LoadedPlugin load(const InspectedPlugin& inspected, std::string copy, Findings& findings) {
    LoadedPlugin loaded;
    loaded.code.state_ = std::make_unique<MappedCode::State>();
    MappedCode::State& mapped = *loaded.code.state_;
    mapped.copy = std::move(copy);
    const LoadWatch watch(inspected);
    {
      const LifecycleCallScope running(inspected.display_name(), "static initializers");
      if (const auto error = map_file(mapped.library, mapped.copy); !error.empty()) {
        add_load_error(error, findings);
        return {};
      }
    }
    const char* const symbol = entry_symbol(inspected);
    if (!mapped.library.has(symbol)) {
      add(findings, finding_code::kEntryMissing, "entry", {}, std::string("the file does not export ") + symbol,
          "write BACKPLANE_PLUGIN(YourPlugin) in one source");
      return loaded;
    }
    mapped.entry = reinterpret_cast<const void*>(&mapped.library.get<void()>(symbol));
    loaded.plugin = call_entry(mapped.entry, inspected, findings);
    return loaded;
  }
};

LoadedPlugin load_in_runner(const InspectedPlugin& inspected, const GenerationDirectory& directory, runner::RunnerOptions options,
                            Findings& findings) {
  check_unchecked_documents(inspected, findings);
  if (has_errors(findings)) return {};
  auto copy = copy_file(inspected, directory, findings);
  if (!copy || !matches_inspection(*copy, inspected, findings)) return {};
  plugin_details().info("loading plugin={} file={} placement=runner", inspected.display_name(), inspected.path);
  options.file = *copy;
  LoadedPlugin loaded;
  loaded.code = PluginLoading::keep(std::move(*copy));
  auto started = runner::Runner::start(std::move(options));
  if (!started.ok()) {
    add(findings, finding_code::kCreateThrew, "constructor", {}, "the plugin's constructor failed: " + started.status().message());
    return {};
  }
  loaded.process = std::move(*started);
  loaded.plugin =
      stable::make_plugin(loaded.process->table(), inspected.display_name(), [runner = loaded.process] { return runner->answers(); });
  return loaded;
}

LoadedPlugin load_plugin(const InspectedPlugin& inspected, const GenerationDirectory& directory, Findings& findings) {
  check_unchecked_documents(inspected, findings);
  if (has_errors(findings)) return {};
  auto copy = copy_file(inspected, directory, findings);
  if (!copy || !matches_inspection(*copy, inspected, findings)) return {};
  return PluginLoading::load(inspected, std::move(*copy), findings);
}

}  // namespace backplane
