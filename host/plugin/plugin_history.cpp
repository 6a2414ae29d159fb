#include "plugin/plugin_history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "plugin/log.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

constexpr const char* kHistoryFile = "plugins.json";
constexpr const char* kCrashFile = "plugin-crash";
constexpr std::chrono::minutes kFirstQuarantine{10};
constexpr std::chrono::hours kLongestQuarantine{24};
constexpr std::chrono::minutes kStartupsCount{5};
constexpr std::size_t kMostDigests = 512;

std::int64_t seconds_of(Clock::time_point time) { return Clock::to_time_t(time); }
Clock::time_point time_of(std::string_view text) { return Clock::from_time_t(parse_rfc3339(text).value_or(0)); }

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Identifies this build of the server: another build may have other checks.
std::string this_build() {
  const BuildInfo& build = build_info();
  std::string text(build.version);
  for (const std::string_view part : {build.commit, build.tree_state, build.date}) text.append(" ").append(part);
  return text;
}

bool is_among(const std::vector<std::string>& digests, const std::string& digest) {
  return std::find(digests.begin(), digests.end(), digest) != digests.end();
}

void add_digests(std::vector<std::string>& to, const std::vector<std::string>& digests) {
  to.insert(to.end(), digests.begin(), digests.end());
  if (to.size() > kMostDigests) to.erase(to.begin(), to.end() - kMostDigests);
}

Array digests_to_json(const std::vector<std::string>& digests) {
  Array out;
  for (const auto& digest : digests) out.emplace_back(digest);
  return out;
}

Object crash_to_json(const PluginCrash& crash) {
  return {{"plugin", crash.plugin},
          {"version", crash.version},
          {"file", crash.file},
          {"sha256", crash.digest},
          {"signal", crash.signal},
          {"place", crash.place},
          {"call", crash.call},
          {"thread", crash.thread},
          {"time", format_rfc3339(seconds_of(crash.time))},
          {"until", format_rfc3339(seconds_of(crash.until))},
          {"count", crash.count}};
}

PluginCrash crash_of(const Object& json) {
  PluginCrash crash;
  const std::pair<const char*, std::string*> texts[] = {{"plugin", &crash.plugin}, {"version", &crash.version}, {"file", &crash.file},
                                                        {"sha256", &crash.digest}, {"signal", &crash.signal},   {"place", &crash.place},
                                                        {"call", &crash.call},     {"thread", &crash.thread}};
  for (const auto& [key, text] : texts) *text = std::string(get_string(json, key));
  crash.time = time_of(get_string(json, "time"));
  crash.until = time_of(get_string(json, "until"));
  const Value* count = json.if_contains("count");
  if (count != nullptr && count->is_int64()) crash.count = static_cast<int>(count->get_int64());
  return crash;
}

// The line of plugin_code.cpp: its fields are separated by tabs.
std::optional<PluginCrash> parse_crash_line(std::string_view line) {
  std::vector<std::string> fields;
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  for (std::size_t at = 0; at <= line.size();) {
    const auto end = std::min(line.find('\t', at), line.size());
    fields.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  if (fields.size() != 8) return std::nullopt;
  return PluginCrash{fields[1], fields[2], fields[3], fields[4], fields[0], fields[5], fields[6], fields[7]};
}

}  // namespace

std::string crash_text(const PluginCrash& crash) {
  std::string out = "it crashed the server at " + format_rfc3339(seconds_of(crash.time)) + " (" + crash.signal;
  if (!crash.call.empty()) out += " in " + crash.call;
  if (!crash.place.empty()) out += " at " + crash.place;
  return out + ")";
}

PluginHistory PluginHistory::open(std::string directory) {
  PluginHistory history;
  history.directory_ = std::move(directory);
  if (history.directory_.empty()) return history;
  history.read();
  history.take_crash();
  return history;
}

void PluginHistory::read() {
  boost::system::error_code error;
  const Value value = boost::json::parse(whole_file(path(kHistoryFile)), error);
  if (error || !value.is_object()) return;
  const Object& root = value.get_object();
  each(root, "crashes", [this](const Object& crash, std::size_t) { crashes_.push_back(crash_of(crash)); });
  probed_ = texts_of(root, "probed");
  if (get_string(root, "checkedBy") == this_build()) checked_ = texts_of(root, "checked");
  const Value* startups = root.if_contains("startups");
  if (startups == nullptr || !startups->is_array()) return;
  for (const auto& each : startups->get_array()) {
    if (each.is_int64()) startups_.push_back(each.get_int64());
  }
}

void PluginHistory::take_crash() {
  const std::string file = path(kCrashFile);
  last_ = parse_crash_line(whole_file(file));
  std::error_code error;
  if (!last_) {
    fs::remove(file, error);
    return;
  }
  const auto written = fs::last_write_time(file, error);
  last_->time =
      error ? Clock::now() : Clock::now() + std::chrono::duration_cast<Clock::duration>(written - fs::file_time_type::clock::now());
  fs::remove(file, error);
  if (last_->plugin.empty()) return;
  (void)note_crash(*last_);
  last_ = crashes_.back();
}

PluginCrash::Time PluginHistory::note_crash(PluginCrash crash) {
  std::chrono::minutes quarantine = kFirstQuarantine;
  for (const auto& former : crashes_) {
    if (former.plugin != crash.plugin || former.digest != crash.digest) continue;
    crash.count = former.count + 1;
    for (int i = 0; i < former.count && quarantine < kLongestQuarantine; ++i) quarantine *= 2;
  }
  crash.until = crash.time + std::min<std::chrono::minutes>(quarantine, kLongestQuarantine);
  std::erase_if(crashes_, [&crash](const auto& former) { return former.plugin == crash.plugin; });
  crashes_.push_back(std::move(crash));
  save();
  return crashes_.back().until;
}

const PluginCrash* PluginHistory::quarantine_of(const std::string& plugin, const std::string& digest) const {
  for (const auto& crash : crashes_) {
    if (crash.plugin == plugin && crash.digest == digest && crash.until > Clock::now()) return &crash;
  }
  return nullptr;
}

void PluginHistory::clear_quarantine(const std::string& plugin) {
  if (std::erase_if(crashes_, [&](const auto& crash) { return crash.plugin == plugin; }) > 0) save();
}

bool PluginHistory::has_probed(const std::string& digest) const { return is_among(probed_, digest); }

void PluginHistory::note_probed(std::vector<std::string> digests) {
  if (digests.empty()) return;
  add_digests(probed_, digests);
  save();
}

bool PluginHistory::has_checked(const std::string& digest) const { return is_among(checked_, digest); }

void PluginHistory::note_checked(std::string digest) {
  if (!directory_.empty() && !has_checked(digest)) add_digests(checked_, {std::move(digest)});
}

std::size_t PluginHistory::begin_startup() {
  const std::int64_t now = seconds_of(Clock::now());
  std::erase_if(startups_, [now](std::int64_t begun) { return begun + std::chrono::seconds(kStartupsCount).count() < now; });
  const std::size_t unfinished = startups_.size();
  startups_.push_back(now);
  save();
  return unfinished;
}

void PluginHistory::end_startup() {
  if (startups_.empty()) return;
  startups_.clear();
  save();
}

int PluginHistory::crash_file() const {
  if (directory_.empty()) return -1;
  return ::open(path(kCrashFile).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

void PluginHistory::save() const {
  if (directory_.empty()) return;
  Array crashes, startups;
  for (const auto& crash : crashes_) crashes.emplace_back(crash_to_json(crash));
  for (const auto begun : startups_) startups.emplace_back(begun);
  const std::string text = to_json(Object{{"crashes", std::move(crashes)},
                                          {"probed", digests_to_json(probed_)},
                                          {"checked", digests_to_json(checked_)},
                                          {"checkedBy", this_build()},
                                          {"startups", std::move(startups)}});
  const std::string made = path(kHistoryFile) + ".new";
  std::ofstream file(made, std::ios::binary | std::ios::trunc);
  file << text << '\n';
  file.close();
  std::error_code error;
  if (file) fs::rename(made, path(kHistoryFile), error);
  if (!file || error) plugin_log().warn("the history of plugins cannot be written file={}", path(kHistoryFile));
}

}  // namespace backplane
