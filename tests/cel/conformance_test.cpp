// Runs CEL's conformance suite (Go module cel.dev/expr), which `go mod download` stores in the Go module cache; if go is not installed, the
// test is skipped.  known_differences.txt lists the cases that fail, with the reason. If a listed case passes, the test fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "../support/skip.hpp"
#include "backplane/types/cel.hpp"
#include "cel/node.hpp"
#include "cel/plan.hpp"
#include "cel/program.hpp"
#include "cel/text.hpp"
#include "cel/times.hpp"
#include "textproto.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using namespace cel_detail;
using textproto::Field;

constexpr const char* kModule = "cel.dev/expr@v0.25.1";

// The folder of the suite; empty if it is not available.
fs::path suite() {
  const std::string command = std::string("cd / && go mod download -json ") + kModule + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  for (int letter = fgetc(pipe); letter != EOF; letter = fgetc(pipe)) text.push_back(static_cast<char>(letter));
  if (pclose(pipe) != 0) return {};
  boost::system::error_code error;
  const backplane::Value found = json::parse(text, error);
  if (error || !found.is_object()) return {};
  const fs::path folder = fs::path(std::string(get_string(found.get_object(), "Dir"))) / "tests/simple/testdata";
  return fs::is_directory(folder) ? folder : fs::path();
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// ---- values as one text

std::string number_text(double value) {
  std::string out;
  append_real(out, value == 0 ? 0.0 : value);
  return out;
}

std::string joined(std::vector<std::string> parts, bool sorted) {
  if (sorted) std::sort(parts.begin(), parts.end());
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

std::string show(Arena& arena, const Val& value) {
  switch (value.kind) {
    case ValKind::kUint:
      return std::to_string(value.natural) + "u";
    case ValKind::kDouble:
      return "double " + number_text(value.real);
    case ValKind::kString:
      return cel_detail::quoted(value.view());
    case ValKind::kBytes:
      return "b" + cel_detail::quoted(value.view());
    case ValKind::kDuration:
      return "duration " + print_seconds(value.integer);
    case ValKind::kTimestamp:
      return "timestamp " + print_instant({value.integer, value.size, 0});
    case ValKind::kType:
      return "type " + std::string(value.view());
    case ValKind::kOptional:
      return value.inner == nullptr ? "none" : "some " + show(arena, *value.inner);
    case ValKind::kList: {
      std::vector<std::string> items;
      for (std::size_t i = 0; i < list_size(value); ++i) items.push_back(show(arena, list_at(arena, value, i)));
      return "[" + joined(std::move(items), false) + "]";
    }
    case ValKind::kMap: {
      std::vector<std::string> items;
      map_each(arena, value, [&](const Val& key, const Val& item) {
        items.push_back(show(arena, key) + ":" + show(arena, item));
        return true;
      });
      return std::string(type_name(value)) + "{" + joined(std::move(items), true) + "}";
    }
    default: {
      std::string out;
      append_plain(arena, out, value);
      return out;
    }
  }
}

// Converts a value of the suite.  False: it is a protobuf message, which is not supported.
bool to_val(Arena& arena, const Field& value, Val& out) {
  if (value.fields.empty()) return false;
  const Field& field = value.fields.front();
  const std::string& name = field.name;
  if (name == "null_value") return out = null_val(), true;
  if (name == "bool_value") return out = bool_val(field.scalar == "true"), true;
  if (name == "int64_value") {
    const bool hex = field.scalar.starts_with("0x");
    return out = int_val(hex ? static_cast<std::int64_t>(std::stoull(field.scalar, nullptr, 16)) : parse_int(field.scalar).value_or(0)),
           true;
  }
  if (name == "uint64_value") return out = uint_val(parse_uint(field.scalar).value_or(0)), true;
  if (name == "double_value") return out = double_val(parse_real(field.scalar).value_or(0)), true;
  if (name == "string_value") return out = kept_string(arena, field.scalar), true;
  if (name == "bytes_value") return out = bytes_val(arena.keep_text(field.scalar)), true;
  if (name == "type_value") return out = type_val(arena.keep_text(field.scalar)), true;
  if (name == "list_value") {
    const auto items = field.all("values");
    Val* made = arena.allocate<Val>(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!to_val(arena, *items[i], made[i])) return false;
    }
    return out = list_val(made, items.size()), true;
  }
  if (name == "map_value") {
    const auto entries = field.all("entries");
    auto* made = arena.allocate<MapEntry>(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Field *key = entries[i]->find("key"), *item = entries[i]->find("value");
      if (key == nullptr || item == nullptr || !to_val(arena, *key, made[i].key) || !to_val(arena, *item, made[i].value)) return false;
    }
    return out = make_map(arena, made, entries.size()), true;
  }
  if (name == "object_value" && field.fields.size() == 1) {
    const Field& message = field.fields.front();
    const auto number = [&](std::string_view member) { return parse_int(message.text(member)).value_or(0); };
    if (message.name == "[type.googleapis.com/google.protobuf.Duration]")
      return out = duration_val(number("seconds") * kNanos + number("nanos")), true;
    if (message.name == "[type.googleapis.com/google.protobuf.Timestamp]")
      return out = timestamp_val(number("seconds"), static_cast<std::uint32_t>(number("nanos")), 0), true;
  }
  return false;
}

// ---- types as one text

std::string type_text(const Field& type) {
  if (type.fields.empty()) return "dyn";
  const Field& field = type.fields.front();
  const auto plain = [](std::string_view word) -> std::string {
    if (word == "BOOL") return "bool";
    if (word == "INT64") return "int";
    if (word == "UINT64") return "uint";
    if (word == "DOUBLE") return "double";
    if (word == "STRING") return "string";
    if (word == "BYTES") return "bytes";
    if (word == "DURATION") return "google.protobuf.Duration";
    if (word == "TIMESTAMP") return "google.protobuf.Timestamp";
    return "google.protobuf.Any";
  };
  const auto inner = [&](const Field& holder, std::string_view name) {
    const Field* found = holder.find(name);
    return found == nullptr ? std::string("dyn") : type_text(*found);
  };
  if (field.name == "primitive" || field.name == "well_known") return plain(field.scalar);
  if (field.name == "wrapper") return "wrapper(" + plain(field.scalar) + ")";
  if (field.name == "null") return "null";
  if (field.name == "list_type") return "list(" + inner(field, "elem_type") + ")";
  if (field.name == "map_type") return "map(" + inner(field, "key_type") + ", " + inner(field, "value_type") + ")";
  if (field.name == "type") return "type" + (field.fields.empty() ? std::string() : "(" + type_text(field) + ")");
  if (field.name == "message_type" || field.name == "type_param") return field.scalar;
  if (field.name == "abstract_type") {
    std::vector<std::string> parameters;
    for (const Field* parameter : field.all("parameter_types")) parameters.push_back(type_text(*parameter));
    std::string list;
    for (const std::string& parameter : parameters) list += (list.empty() ? "" : ", ") + parameter;
    return std::string(field.text("name")) + (list.empty() ? "" : "(" + list + ")");
  }
  return "dyn";
}

// Converts the text of a type to the type of a variable's declaration.
cel::TypeRef declared_type(std::string text) {
  const auto put = [&text](std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  };
  put("google.protobuf.Duration", "duration");
  put("google.protobuf.Timestamp", "timestamp");
  return cel::named_type(text);
}

// ---- one test

// The reason why the test fails; empty: it passes.
std::string problem_of(const Field& test) {
  if (test.text("disable_check") == "true") return "expressions are always checked";
  cel::EnvironmentOptions options;
  options.extras.everything = true;
  options.strict_literals = false;
  options.container = test.text("container");
  for (const Field* declared : test.all("type_env")) {
    const Field* ident = declared->find("ident");
    if (ident == nullptr) return "functions of tests cannot be declared";
    const Field* type = ident->find("type");
    cel::TypeRef found = type == nullptr ? nullptr : declared_type(type_text(*type));
    if (found == nullptr) return "there is no type " + (type == nullptr ? std::string() : type_text(*type));
    options.variables.push_back({std::string(declared->text("name")), std::move(found)});
  }
  Arena arena;
  Run run(arena);
  std::map<std::string, Val, std::less<>> bound;
  for (const Field* binding : test.all("bindings")) {
    const Field* outer = binding->find("value");
    const Field* value = outer == nullptr ? nullptr : outer->find("value");
    if (value == nullptr || !to_val(run.arena, *value, bound[std::string(binding->text("key"))])) return "a message is bound";
  }
  for (const auto& binding : bound) {
    const std::string& name = binding.first;
    const bool declared =
        std::any_of(options.variables.begin(), options.variables.end(), [&](const auto& each) { return each.name == name; });
    if (!declared) options.variables.push_back({name, cel::named_type("dyn")});
  }
  const cel::Compiled compiled = cel::Environment::make(options)->compile(test.text("expr"));
  const bool wants_error = test.find("eval_error") != nullptr || test.find("any_eval_errors") != nullptr;
  if (compiled.program == nullptr) return wants_error ? std::string() : compiled.problems;
  const Field* typed = test.find("typed_result");
  if (typed != nullptr && typed->find("deduced_type") != nullptr) {
    const std::string wanted = type_text(*typed->find("deduced_type"));
    if (compiled.program->result_type() != wanted) return "the type is " + compiled.program->result_type() + " and not " + wanted;
  }
  if (test.text("check_only") == "true") return {};
  const Plan& plan = *compiled.program->state().plan;
  std::vector<Val> variables;
  for (const Plan::Variable& variable : plan.variables) {
    const auto found = bound.find(variable.name);
    variables.push_back(found == bound.end() ? unbound(variable.name) : found->second);
  }
  std::vector<Local> locals(plan.locals);
  run.variables = variables;
  run.locals = locals;
  run.limit = 10'000'000;
  const Val got = plan.root->eval(run);
  if (wants_error) return got.is_error() ? std::string() : "no error but " + show(run.arena, got);
  if (got.is_error()) return "error: " + std::string(got.view());
  const Field* wanted = test.find("value");
  if (typed != nullptr) wanted = typed->find("result");
  Val value = bool_val(true);
  if (wanted != nullptr && !to_val(run.arena, *wanted, value)) return "a message is wanted";
  const std::string shown = show(run.arena, got), wanted_text = show(run.arena, value);
  return shown == wanted_text ? std::string() : shown + " and not " + wanted_text;
}

// "file/section/test" → reason.  A line that begins with # is the reason of the lines below it.
std::map<std::string, std::string> known_differences() {
  std::map<std::string, std::string> out;
  std::ifstream file(SOURCE_DIR "/tests/cel/known_differences.txt");
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ")) {
      reason = line.substr(2);
    } else if (!line.empty()) {
      out.emplace(line, reason);
    }
  }
  return out;
}

TEST(CelConformance, TheSuiteOfTheLanguageIsMetOrTheReasonIsListed) {
  const fs::path folder = suite();
  if (folder.empty()) BACKPLANE_SKIP_WITHOUT("go", "go is not installed, or cannot fetch " + std::string(kModule));
  const auto known = known_differences();
  std::set<std::string> seen;  // several tests may share a name
  std::size_t met = 0, listed = 0;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".textproto") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    const Field file = textproto::parse(content(path));
    for (const Field* section : file.all("section")) {
      for (const Field* test : section->all("test")) {
        const std::string name = path.stem().string() + "/" + std::string(section->text("name")) + "/" + std::string(test->text("name"));
        const std::string problem = problem_of(*test);
        const bool difference = known.contains(name);
        seen.insert(name);
        met += problem.empty() ? 1 : 0;
        listed += !problem.empty() && difference ? 1 : 0;
        EXPECT_TRUE(problem.empty() || difference) << name << ": " << test->text("expr") << "\n  " << problem;
        EXPECT_FALSE(problem.empty() && difference) << name << " is met now: take it off the list";
      }
    }
  }
  for (const auto& [name, reason] : known) EXPECT_TRUE(seen.contains(name)) << "there is no test " << name;
  RecordProperty("met", static_cast<int>(met));
  RecordProperty("listed", static_cast<int>(listed));
  std::printf("%zu tests of the suite are met, %zu differ as listed\n", met, listed);
  EXPECT_GT(met, 1000u);
}

}  // namespace
}  // namespace backplane
