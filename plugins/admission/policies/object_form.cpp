#include "policies/object_form.hpp"

namespace backplane::admission::policies {
namespace {

PatchError decoding_error(const Status& shaped, const ObjectForm& form, Decoding decoding) {
  if (decoding == Decoding::kStrict) return {{}, internal_error(shaped.message())};
  const std::string start = is_structural(form) ? "" : "unable to convert unstructured object to " + kind_text(form.kind) + ": ";
  return {start + std::string(shaped.message()), {}};
}

Status strict_error(const DecodeReport& report) {
  std::string all;
  for (const std::string& problem : report.problems) all.append(all.empty() ? "" : ", ").append(problem);
  return internal_error("strict decoding error: " + all);
}

}  // namespace

PatchError complete_patched(Value& whole, const ObjectForm& form, Decoding decoding) {
  if (form.schema != nullptr) {
    DecodeReport report;
    report.restore = decoding == Decoding::kMap && !is_structural(form);
    const Status shaped = form.schema->normalize(whole, &report);
    if (!shaped.ok()) return decoding_error(shaped, form, decoding);
    if (decoding == Decoding::kStrict && !is_structural(form) && !report.problems.empty()) return {{}, strict_error(report)};
  }
  form.set_defaults(whole);
  return {};
}

}  // namespace backplane::admission::policies
