// The controllers that --controllers selects.
//
// Thread-safety: values.
// Errors:        kBadRequest with kube-controller-manager's text for an unknown name.
// Source:        k8s.io/controller-manager/options (Validate), k8s.io/controller-manager/app (IsControllerEnabled).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frame/context.hpp"

namespace backplane::controllers {

class Selection {
 public:
  // `list`: the flag's value, such as "*,-garbage-collector-controller,bootstrap-signer-controller".
  static Result<Selection> parse(std::string_view list, const std::vector<ControllerRow>& table);
  // The first entry with the controller's name decides; without one, "*" selects the controllers that are on by default.
  bool enabled(const ControllerRow& row) const;
  // Controllers that the list names and that only kube-controller-manager has.
  const std::vector<std::string>& absent() const noexcept { return absent_; }

 private:
  struct Entry {
    std::string name;
    bool off = false;
  };
  std::vector<Entry> entries_;
  bool star_ = false;
  std::vector<std::string> absent_;
};

}  // namespace backplane::controllers
