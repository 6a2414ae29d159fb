// The record of plugins in former runs of the server, kept in the data directory (plugins.json, and plugin-crash for the last crash):
// plugins that have crashed the server and until when they are left out, files that have passed a probe, files whose documents have no
// findings, and startups that have not ended.
//
// A plugin that has crashed the server is left out for ten minutes. Each further crash of the same file doubles the time, up to a day. A
// file with other bytes is not left out. clear_quarantine() ends the time early.
// Thread-safety: one thread at a time.
// Lifetime:      values; open() reads the files, each change writes them.
// Errors:        a file that cannot be read counts as empty, one that cannot be written is a warning in the log: the server runs without.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane {

struct PluginCrash {
  using Time = std::chrono::system_clock::time_point;
  std::string plugin, version, file, digest;
  std::string signal;  // "SIGSEGV"
  std::string place;   // "/path/x.so+0x1234"; empty: not in its code
  std::string call;    // "provision()"; empty: a request, a hook or a task
  std::string thread;
  Time time = {}, until = {};
  int count = 1;
};
// "it crashed the server at … (SIGSEGV in provision() at …)"
std::string crash_text(const PluginCrash& crash);

class PluginHistory {
 public:
  // Reads the history, and takes the crash of the former run from its file. If `directory` is empty, nothing is kept.
  static PluginHistory open(std::string directory);

  // The crash because of which a file with these bytes is left out; null: it is not left out.
  const PluginCrash* quarantine_of(const std::string& plugin, const std::string& digest) const;
  // The crash of the former run, whether a plugin caused it or not.
  const std::optional<PluginCrash>& last_crash() const noexcept { return last_; }
  // Records another crash of a file; returns the time until which it is left out.
  PluginCrash::Time note_crash(PluginCrash crash);
  void clear_quarantine(const std::string& plugin);

  bool has_probed(const std::string& digest) const;
  void note_probed(std::vector<std::string> digests);

  // Whether this build of the server has checked the documents of a file with these bytes, without findings.
  bool has_checked(const std::string& digest) const;
  // Written with the next other change, end_startup() for example.
  void note_checked(std::string digest);

  // Records that a startup begins. Returns the number of startups in the last five minutes that were neither completed nor stopped in
  // order.
  std::size_t begin_startup();
  void end_startup();

  // The descriptor to which the line of a crash in this run is written; -1: none. The caller must not close it.
  int crash_file() const;

 private:
  std::string path(const char* name) const { return directory_ + "/" + name; }
  void read();
  void take_crash();
  void save() const;

  std::string directory_;
  std::vector<PluginCrash> crashes_;
  std::optional<PluginCrash> last_;
  std::vector<std::string> probed_, checked_;
  std::vector<std::int64_t> startups_;  // Unix seconds
};

}  // namespace backplane
