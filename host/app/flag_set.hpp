// Parses command line flags by the rules of pflag, because manifests of kube-apiserver are written for these rules: `--name=value`,
// `--name value`, `--bool`, `-v4`, an empty value after `=`, commas in lists, `_` for `-`. Brackets have no special meaning. (CLI11 reads
// `--name=` as "the next argument is the value" and `[a]` as a list; both change the meaning of an existing manifest.)
//
// Thread-safety: one thread, at start-up; texts() and text() from any thread afterwards.
// Lifetime:      bound variables outlive the parse.
// Errors:        kBadRequest; unknown flags and missing arguments have pflag's message.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane {

enum class FlagType : unsigned char {
  kBool,
  kString,
  kIp,
  kInt,
  kFloat,
  kDuration,
  kStrings,      // commas separate the values; a repeated flag adds values
  kStringArray,  // a repeated flag adds a value; commas are part of the value
  kMap,          // key=value; commas separate the pairs; a repeated flag adds pairs
  kPairs,        // key=value, which may contain commas; several pairs are CSV, each pair in quotes
  kPatterns,     // pattern=N; commas separate the patterns
  kInts,
  kPortRange,
  kQuantity,
  kLevel,
  kVersion,  // true, raw or vX.Y.Z
};

class FlagSet {
 public:
  using Strings = std::vector<std::string>;
  using Target = std::variant<std::monostate, bool*, int*, double*, std::chrono::nanoseconds*, std::string*, Strings*>;

  // The flags that follow belong to this section of --help.
  void section(std::string name) { section_ = std::move(name); }
  // A flag that sets `into`. The value that `into` has during this call is the default.
  void add(std::string_view name, bool* into, std::string_view usage) { insert(name, FlagType::kBool, into, usage); }
  void add(std::string_view name, int* into, std::string_view usage) { insert(name, FlagType::kInt, into, usage); }
  void add(std::string_view name, double* into, std::string_view usage) { insert(name, FlagType::kFloat, into, usage); }
  void add(std::string_view name, std::chrono::nanoseconds* into, std::string_view usage) {
    insert(name, FlagType::kDuration, into, usage);
  }
  void add(std::string_view name, std::string* into, std::string_view usage) { insert(name, FlagType::kString, into, usage); }
  void add(std::string_view name, Strings* into, std::string_view usage) { insert(name, FlagType::kStrings, into, usage); }
  // The same with a narrower type (kIp for a string, kStringArray or kMap for a list …) and an optional shorthand letter.
  void add(std::string_view name, FlagType type, Target into, std::string_view usage, char letter = 0);
  // A flag of kube-apiserver whose value is checked and kept as text, but which has no effect yet.
  void accept(std::string_view name, FlagType type, std::string_view default_text, std::string_view usage);
  // A flag of kube-apiserver that is accepted without effect, because each of its values describes this server.
  void always(std::string_view name, FlagType type, std::string_view default_text, std::string_view usage) {
    forward(name, type, default_text, usage);
  }
  // A flag that only plugins read (Host::flag).
  void forward(std::string_view name, FlagType type, std::string_view default_text, std::string_view usage);

  // `args` without the program's name.  Errors: the first argument that cannot be read.
  Status parse(const std::vector<std::string>& args);

  // The value of the flag as text; nullopt for an unknown flag.
  std::optional<std::string> text(std::string_view name) const;
  // The values of a list flag. For another flag: its value, or no element if the value is empty.
  Strings values(std::string_view name) const;
  bool changed(std::string_view name) const;
  // Whether the command line sets any flag.
  bool any_changed() const;
  // True if the flag is not set, or set to its default.
  bool has_default(std::string_view name) const;
  // Every flag with its value, by name.
  std::map<std::string, std::string> texts() const;
  // Flags that were set to another value than their default, and that have no effect.
  std::vector<std::string> accepted_only() const;
  // Flags that were set and whose usage begins with "DEPRECATED: ", with pflag's warning: `Flag --name has been deprecated, why`.
  std::vector<std::string> deprecations() const;
  // The text of --help: all sections, wrapped to `columns`.
  std::string help(std::size_t columns) const;

 private:
  struct Flag {
    std::string name;
    char letter = 0;
    std::string section;
    FlagType type = FlagType::kString;
    std::string usage;
    std::string default_text;
    Target into;
    std::string plain;  // value of a flag without a target
    Strings list;       // values of a list flag without a target
    bool changed = false;
    bool accepted_only = false;
  };
  Flag& insert(std::string_view name, FlagType type, Target into, std::string_view usage);
  Flag* find(std::string_view name);
  const Flag* find(std::string_view name) const;
  std::string nearest(std::string_view name) const;
  Status set(Flag& flag, std::string_view value);
  Status parse_long(const std::vector<std::string>& args, std::size_t& i);
  Status parse_short(const std::vector<std::string>& args, std::size_t& i);
  static std::string value_text(const Flag& flag);
  static std::string help_head(const Flag& flag);
  static std::string effect_text(const Flag& flag);

  std::string section_;
  std::vector<Flag> flags_;  // in the order added
  std::vector<std::string> sections_;
};

}  // namespace backplane
