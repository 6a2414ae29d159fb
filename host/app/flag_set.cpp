#include "app/flag_set.hpp"

#include <algorithm>
#include <charconv>

#include "app/flag_values.hpp"
#include "filters/go_duration.hpp"

namespace backplane {
namespace {

std::string join(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const auto& item : items) out += (out.size() == 1 ? "" : ",") + item;
  return out + "]";
}

std::string normalized(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

template <class Number>
void read_number(std::string_view value, Number* into) {
  if (!value.empty() && value.front() == '+') value.remove_prefix(1);
  std::from_chars(value.data(), value.data() + value.size(), *into);
}

// Writes a checked value into the variable that the flag is bound to.
struct Store {
  std::string_view value;
  FlagType type;
  bool first;
  void operator()(std::monostate) const {}
  void operator()(bool* into) const { *into = to_bool(value); }
  void operator()(int* into) const { read_number(value, into); }
  void operator()(double* into) const { read_number(value, into); }
  void operator()(std::chrono::nanoseconds* into) const { *into = *parse_go_duration(value); }
  void operator()(std::string* into) const { *into = value; }
  void operator()(std::vector<std::string>* into) const {
    if (first) into->clear();  // the first value replaces the default, further ones are added
    if (type == FlagType::kStringArray) {
      into->emplace_back(value);
    } else {
      for (auto& item : type == FlagType::kPairs ? split_pairs(value) : split_list(value)) into->push_back(std::move(item));
    }
  }
};

struct Print {
  const std::string& plain;
  std::string operator()(std::monostate) const { return plain; }
  std::string operator()(const bool* from) const { return *from ? "true" : "false"; }
  std::string operator()(const int* from) const { return std::to_string(*from); }
  std::string operator()(const double* from) const {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, *from).ptr;
    return std::string(buffer, end);
  }
  std::string operator()(const std::chrono::nanoseconds* from) const { return format_go_duration(*from); }
  std::string operator()(const std::string* from) const { return *from; }
  std::string operator()(const std::vector<std::string>* from) const { return join(*from); }
};

// As pflag, does not print a default that is the zero value of its type: "" 0 false [] 0s.
bool is_shown_default(const std::string& text) { return !text.empty() && text != "0" && text != "false" && text != "[]" && text != "0s"; }

void append_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t columns) {
  const std::size_t width = columns > indent + 24 ? columns - indent : std::string_view::npos;
  while (text.size() > width) {
    auto cut = text.rfind(' ', width);
    if (cut == std::string_view::npos || cut == 0) cut = text.find(' ', width);
    if (cut == std::string_view::npos) break;
    out.append(text.substr(0, cut)).append("\n").append(indent, ' ');
    text.remove_prefix(cut + 1);
  }
  out.append(text).append("\n");
}

}  // namespace

FlagSet::Flag& FlagSet::insert(std::string_view name, FlagType type, Target into, std::string_view usage) {
  if (std::find(sections_.begin(), sections_.end(), section_) == sections_.end()) sections_.push_back(section_);
  Flag flag;
  flag.name = name;
  flag.section = section_;
  flag.type = type;
  flag.usage = usage;
  flag.into = into;
  flags_.push_back(std::move(flag));
  flags_.back().default_text = value_text(flags_.back());
  return flags_.back();
}

void FlagSet::add(std::string_view name, FlagType type, Target into, std::string_view usage, char letter) {
  insert(name, type, into, usage).letter = letter;
}

void FlagSet::forward(std::string_view name, FlagType type, std::string_view default_text, std::string_view usage) {
  Flag& flag = insert(name, type, std::monostate(), usage);
  if (is_list(type)) {
    flag.list = split_list(default_text);
  } else {
    flag.plain = default_text;
  }
  flag.default_text = value_text(flag);
}

void FlagSet::accept(std::string_view name, FlagType type, std::string_view default_text, std::string_view usage) {
  forward(name, type, default_text, usage);
  flags_.back().accepted_only = true;
}

const FlagSet::Flag* FlagSet::find(std::string_view name) const {
  const auto found = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) { return flag.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}
FlagSet::Flag* FlagSet::find(std::string_view name) { return const_cast<Flag*>(std::as_const(*this).find(name)); }

std::string FlagSet::nearest(std::string_view name) const {
  const Flag* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 4) + 1;
  for (const auto& flag : flags_) {
    const std::size_t d = distance(name, flag.name);
    if (d < best_distance) {
      best = &flag;
      best_distance = d;
    }
  }
  return best == nullptr ? "" : " (did you mean --" + best->name + "?)";
}

Status FlagSet::set(Flag& flag, std::string_view value) {
  if (auto problem = flag_value_problem(flag.type, value); !problem.empty()) {
    const std::string shown = flag.letter != 0 ? std::string("-") + flag.letter + ", --" + flag.name : "--" + flag.name;
    return bad_request(shown + ": invalid value " + backplane::quoted(value) + ": " + problem);
  }
  if (std::holds_alternative<std::monostate>(flag.into)) {
    if (is_list(flag.type)) {
      Store{value, flag.type, !flag.changed}(&flag.list);
    } else {
      flag.plain = value;
    }
  } else {
    std::visit(Store{value, flag.type, !flag.changed}, flag.into);
  }
  flag.changed = true;
  return {};
}

Status FlagSet::parse_long(const std::vector<std::string>& args, std::size_t& i) {
  const std::string_view arg = args[i];
  const auto equals = arg.find('=');
  const std::string name = normalized(arg.substr(2, equals == std::string_view::npos ? equals : equals - 2));
  if (name.empty() || name.front() == '-') return bad_request("bad flag syntax: " + std::string(arg));
  Flag* flag = find(name);
  if (flag == nullptr) return bad_request("unknown flag: --" + name + nearest(name));
  if (equals != std::string_view::npos) return set(*flag, arg.substr(equals + 1));
  if (flag->type == FlagType::kBool || flag->type == FlagType::kVersion) return set(*flag, "true");
  if (i + 1 >= args.size()) return bad_request("flag needs an argument: --" + name);
  return set(*flag, args[++i]);
}

Status FlagSet::parse_short(const std::vector<std::string>& args, std::size_t& i) {
  const std::string_view arg = args[i];
  const auto flag = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.letter != 0 && f.letter == arg[1]; });
  if (flag == flags_.end()) return bad_request("unknown shorthand flag: '" + std::string(1, arg[1]) + "' in " + std::string(arg));
  std::string_view rest = arg.substr(2);
  if (!rest.empty()) return set(*flag, rest.front() == '=' ? rest.substr(1) : rest);
  if (flag->type == FlagType::kBool) return set(*flag, "true");
  if (i + 1 >= args.size()) return bad_request("flag needs an argument: '" + std::string(1, arg[1]) + "' in " + std::string(arg));
  return set(*flag, args[++i]);
}

Status FlagSet::parse(const std::vector<std::string>& args) {
  std::string positional;
  bool flags_over = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--" && !flags_over) {
      flags_over = true;
      continue;
    }
    if (flags_over || arg.size() < 2 || arg[0] != '-') {
      if (!arg.empty()) positional += (positional.empty() ? "" : " ") + backplane::quoted(arg);
      continue;
    }
    Status status = arg[1] == '-' ? parse_long(args, i) : parse_short(args, i);
    if (!status.ok()) return status;
  }
  if (!positional.empty()) return bad_request("\"backplane\" does not take any arguments, got [" + positional + "]");
  return {};
}

std::string FlagSet::value_text(const Flag& flag) {
  if (std::holds_alternative<std::monostate>(flag.into) && is_list(flag.type)) return join(flag.list);
  return std::visit(Print{flag.plain}, flag.into);
}

std::optional<std::string> FlagSet::text(std::string_view name) const {
  const Flag* flag = find(name);
  if (flag == nullptr) return std::nullopt;
  // The text of a list has the form of the command line, without brackets.
  const std::string text = value_text(*flag);
  return is_list(flag->type) ? text.substr(1, text.size() - 2) : text;
}

FlagSet::Strings FlagSet::values(std::string_view name) const {
  const Flag* flag = find(name);
  if (flag == nullptr) return {};
  if (const auto* into = std::get_if<Strings*>(&flag->into)) return **into;
  if (is_list(flag->type)) return flag->list;
  std::string value = value_text(*flag);
  return value.empty() ? Strings() : Strings{std::move(value)};
}

bool FlagSet::changed(std::string_view name) const {
  const Flag* flag = find(name);
  return flag != nullptr && flag->changed;
}

bool FlagSet::any_changed() const {
  return std::any_of(flags_.begin(), flags_.end(), [](const Flag& flag) { return flag.changed; });
}

std::map<std::string, std::string> FlagSet::texts() const {
  std::map<std::string, std::string> out;
  for (const auto& flag : flags_) out.emplace(flag.name, value_text(flag));
  return out;
}

bool FlagSet::has_default(std::string_view name) const {
  const Flag* flag = find(name);
  return flag == nullptr || !flag->changed || value_text(*flag) == flag->default_text;
}

std::vector<std::string> FlagSet::accepted_only() const {
  std::vector<std::string> names;
  for (const auto& flag : flags_) {
    if (flag.accepted_only && !has_default(flag.name)) names.push_back("--" + flag.name);
  }
  return names;
}

std::vector<std::string> FlagSet::deprecations() const {
  constexpr std::string_view kMark = "DEPRECATED: ";
  std::vector<std::string> lines;
  for (const auto& flag : flags_) {
    if (!flag.changed || !flag.usage.starts_with(kMark)) continue;
    lines.push_back("Flag --" + flag.name + " has been deprecated, " + flag.usage.substr(kMark.size()));
  }
  return lines;
}

std::string FlagSet::help_head(const Flag& flag) {
  std::string head = flag.letter != 0 ? std::string("  -") + flag.letter + ", --" : "      --";
  head += flag.name;
  const auto word = flag_type_word(flag.type);
  if (!word.empty()) head.append(" ").append(word);
  return head;
}

std::string FlagSet::effect_text(const Flag& flag) { return flag.accepted_only ? " [no effect]" : ""; }

std::string FlagSet::help(std::size_t columns) const {
  std::string out;
  for (const auto& section : sections_) {
    out += "\n" + section + " flags:\n\n";
    std::vector<const Flag*> rows;
    std::size_t widest = 0;
    for (const auto& flag : flags_) {
      if (flag.section != section) continue;
      rows.push_back(&flag);
      widest = std::max(widest, help_head(flag).size());
    }
    std::sort(rows.begin(), rows.end(), [](const Flag* a, const Flag* b) { return a->name < b->name; });
    for (const Flag* flag : rows) {
      std::string head = help_head(*flag);
      head.resize(widest + 3, ' ');
      std::string usage = flag->usage;
      if (is_shown_default(flag->default_text)) {
        usage += " (default " + (flag->type == FlagType::kString ? backplane::quoted(flag->default_text) : flag->default_text) + ")";
      }
      usage += effect_text(*flag);
      out += head;
      append_wrapped(out, usage, head.size(), columns);
    }
  }
  return out;
}

}  // namespace backplane
