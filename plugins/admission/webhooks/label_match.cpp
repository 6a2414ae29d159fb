#include "webhooks/label_match.hpp"

#include <utility>

namespace backplane::admission::webhooks {

LabelMatch read_label_selector(const Object* selector) {
  LabelMatch out;
  if (selector == nullptr) return out;
  auto parsed = label_selector_of(*selector);
  if (parsed.ok()) {
    out.selector = std::move(*parsed);
  } else {
    out.problem = std::move(parsed.status());
  }
  return out;
}

}  // namespace backplane::admission::webhooks
