#include "schema/place.hpp"

namespace backplane::schema {

void Place::append_to(std::string& out) const {
  if (parent != nullptr) parent->append_to(out);
  switch (step) {
    case Step::kIndex:
      out.append("[").append(std::to_string(index)).append("]");
      return;
    case Step::kKey:
      out.append("[").append(name).append("]");
      return;
    case Step::kDotted:
      out.append(".").append(name);
      return;
    case Step::kRoot:
    case Step::kMember:
      if (name.empty()) return;
      if (!out.empty()) out.push_back('.');
      out.append(name);
  }
}

std::string Place::path() const {
  std::string out;
  append_to(out);
  return out;
}

}  // namespace backplane::schema
