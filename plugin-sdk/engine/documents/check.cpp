#include "engine/document_check.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "backplane/types/json_reading.hpp"
#include "backplane/types/schema.hpp"
#include "documents/checks.hpp"
#include "engine/json_lines.hpp"

namespace backplane BACKPLANE_API {
namespace {

using documents::line_at;
using documents::line_of;
using documents::Pointer;
using documents::pointer_of;

struct Document {
  const CarriedDocument* carried = nullptr;
  Value tree;
  std::shared_ptr<const SchemaSet> types;  // the types of a schema document; null: it could not be indexed
  bool is_schema() const { return get_object(tree.get_object(), "definitions") != nullptr; }
  bool is_group() const { return tree.get_object().contains("kinds") && tree.get_object().contains("group"); }
};

bool is_preview(std::string_view version) {
  return version.find("alpha") != std::string_view::npos || version.find("beta") != std::string_view::npos;
}

class DocumentsCheck {
 public:
  DocumentsCheck(std::span<const CarriedDocument> carried, const GroupCheck& check_group) : check_group_(check_group) {
    for (const CarriedDocument& each : carried) {
      if (auto tree = read(each)) documents_.push_back({&each, std::move(*tree), {}});
    }
    for (Document& each : documents_) {
      if (each.is_schema()) index(each);
    }
  }

  std::vector<DocumentProblem> run() {
    for (const Document& each : documents_) {
      if (each.is_schema()) schema(each);
      if (each.is_group()) group(each);
    }
    return std::move(problems_);
  }

 private:
  void report(const CarriedDocument& in, const Pointer& at, std::string message, bool is_note = false) {
    problems_.push_back({in.name, line_of(in.text, at), documents::to_string(at), std::move(message), is_note});
  }

  // nullopt if the text is not a JSON object; the problem is reported.
  std::optional<Value> read(const CarriedDocument& in) {
    boost::system::error_code error;
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    json::stream_parser parser({}, options);
    const std::size_t end = parser.write_some(in.text, error);
    const bool goes_on = in.text.find_first_not_of(" \t\r\n", end) != std::string::npos;
    if (!error && goes_on) error = json::error::extra_data;
    if (!error) parser.finish(error);
    if (error) {
      problems_.push_back({in.name, line_at(in.text, end), "", "malformed JSON: " + error.message(), false});
      return std::nullopt;
    }
    Value tree = parser.release();
    for (const DuplicateMember& each : duplicate_members(in.text)) {
      problems_.push_back({in.name, each.line, documents::to_string(pointer_of(tree, each.path)), "duplicate member", false});
    }
    if (tree.is_object()) return tree;
    report(in, {}, "must be an object");
    return std::nullopt;
  }

  void index(Document& document) {
    const std::string_view text = document.carried->text;
    auto set = SchemaSet::embedded({&text, 1}, imports(nullptr));
    if (set.ok()) document.types = std::move(*set);
  }
  std::vector<std::shared_ptr<const SchemaSet>> imports(const Document* without) const {
    std::vector<std::shared_ptr<const SchemaSet>> out{core_schemas()};
    for (const Document& each : documents_) {
      if (&each != without && each.types != nullptr) out.push_back(each.types);
    }
    return out;
  }

  void schema(const Document& document) {
    const CarriedDocument& carried = *document.carried;
    const std::size_t before = problems_.size();
    documents::check_words(document.tree.get_object(),
                           [&](const Pointer& at, std::string message) { report(carried, at, std::move(message)); });
    if (problems_.size() != before) return;
    const std::string_view text = carried.text;
    const auto compiled = SchemaSet::compile({&text, 1}, imports(&document));
    if (compiled.ok()) return;
    // "schema: <definition>.<path>: what is wrong"
    std::string message = compiled.status().message();
    const std::string_view prefix = "schema: ";
    if (message.starts_with(prefix)) message.erase(0, prefix.size());
    const std::size_t colon = std::min(message.find(": "), message.size());
    Pointer at = pointer_of(document.tree.get_object().at("definitions"), std::string_view(message).substr(0, colon));
    at.insert(at.begin(), "definitions");
    report(carried, at, colon < message.size() ? message.substr(colon + 2) : message);
  }

  void group(const Document& document) {
    const CarriedDocument& carried = *document.carried;
    if (const std::string problem = check_group_(document.tree); !problem.empty()) {
      return report(carried, pointer_of(document.tree, problem.substr(0, problem.find(' '))), problem);
    }
    const Object& words = document.tree.get_object();
    const auto type_of = [this](const GroupVersionKind& kind) -> const Schema* {
      for (const auto& set : imports(nullptr)) {
        if (const Schema* found = set->find(kind)) return found;
      }
      return nullptr;
    };
    documents::check_kinds(words, type_of, [&](const Pointer& at, std::string message) { report(carried, at, std::move(message)); });
    const Array& versions = words.at("versions").get_array();
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const std::string name(get_string(versions[i].get_object(), "name"));
      const std::string version = GroupVersion{std::string(get_string(words, "group")), name}.to_string();
      if (is_preview(name))
        report(carried, {"versions", std::to_string(i)}, version + " is served only with --runtime-config=" + version + "=true", true);
    }
  }

  const GroupCheck& check_group_;
  std::vector<Document> documents_;
  std::vector<DocumentProblem> problems_;
};

}  // namespace

std::vector<DocumentProblem> check_documents(std::span<const CarriedDocument> documents, const GroupCheck& check_group) {
  return DocumentsCheck(documents, check_group).run();
}

std::string to_line(const DocumentProblem& problem) {
  return problem.document + ":" + std::to_string(problem.line) + ": " + (problem.pointer.empty() ? "" : problem.pointer + ": ") +
         problem.message;
}

}  // namespace BACKPLANE_API
