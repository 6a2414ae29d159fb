#include "registry/fields/last_applied.hpp"

#include "backplane/core/meta.hpp"
#include "backplane/types/schema.hpp"
#include "registry/fields/sorted_members.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kMaxAnnotationBytes = std::size_t{256} << 10;

std::string_view last_applied(const Object& object) {
  const Object* metadata = get_object(object, "metadata");
  const Object* annotations = metadata != nullptr ? get_object(*metadata, "annotations") : nullptr;
  return annotations != nullptr ? get_string(*annotations, kAnnotation) : std::string_view();
}

// The value of the annotation as kubectl writes it: with sorted keys, and a newline at the end.
std::string annotation_of(const Object& configuration) {
  Value whole(configuration);
  Value* metadata = find(whole.get_object(), "metadata");
  Value* annotations = metadata != nullptr && metadata->is_object() ? find(metadata->get_object(), "annotations") : nullptr;
  if (annotations != nullptr && annotations->is_object()) erase_member(annotations->get_object(), kAnnotation);
  sort_members(whole);
  return to_json(whole) + "\n";
}

std::size_t annotation_bytes(const Object& annotations) {
  std::size_t total = 0;
  for (const auto& [key, value] : annotations) total += key.size() + (value.is_string() ? value.get_string().size() : 0);
  return total;
}

}  // namespace

std::optional<FieldSet> last_applied_fields(const Schema* schema, const std::string& api_version, const Object& live) {
  const std::string_view text = last_applied(live);
  if (text.empty()) return std::nullopt;
  const auto read = parse_json(text, {}, nullptr);
  if (!read.ok() || !read->is_object()) return std::nullopt;
  const Object& applied = read->get_object();
  if (get_string(applied, "apiVersion") != api_version) return std::nullopt;
  if (!check_fields(schema, live, Duplicates::kRefused).ok() || !check_fields(schema, applied, Duplicates::kRefused).ok())
    return std::nullopt;
  const auto fields = fields_of(schema, applied);
  if (!fields.ok()) return std::nullopt;
  const auto changes = compare_fields(schema, applied, live);
  if (!changes.ok()) return std::nullopt;
  return fields->subtract(changes->modified).subtract(changes->added).subtract(changes->removed);
}

std::vector<FieldConflict> conflicts_without(const std::vector<FieldConflict>& conflicts, const FieldSet& allowed) {
  std::vector<FieldConflict> left;
  for (const FieldConflict& conflict : conflicts) {
    FieldSet fields = conflict.fields.subtract(allowed);
    if (!fields.empty()) left.push_back({conflict.owner, std::move(fields)});
  }
  return left;
}

void renew_last_applied(Object& object, const Object& configuration) {
  if (last_applied(object).empty()) return;
  Object& annotations = ObjectMeta(object).mutable_annotations();
  annotations.insert_or_assign(kAnnotation, annotation_of(configuration));
  if (annotation_bytes(annotations) > kMaxAnnotationBytes) erase_member(annotations, kAnnotation);
}

}  // namespace backplane::registry
