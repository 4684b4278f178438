// libbinding.so: the other side of binding.h, compiled once against pybind11 and torch's converters.
#include <torch/csrc/utils/pybind.h>

#include <torch/csrc/Exceptions.h>

#include "binding.h"

namespace py = pybind11;

namespace itf::bind {

// What pybind11 itself makes of a function, from what is known at run time instead of from types.
class Bound : public py::cpp_function {
 public:
  Bound(const Function& function, const py::module_& scope) {
    auto record = make_function_record();
    record->name = const_cast<char*>(function.name);  // copied below
    record->doc = const_cast<char*>(function.doc);
    record->scope = scope;
    py::object before = py::getattr(scope, function.name, py::none());
    record->sibling = before;
    record->data[0] = const_cast<Function*>(&function);
    record->impl = dispatch;
    record->nargs_pos = static_cast<decltype(record->nargs_pos)>(function.arguments.size());
    std::string text = "(";
    std::vector<const std::type_info*> types;
    for (const Type& type : function.arguments) {
      text += (text.size() > 1 ? ", {" : "{") + std::string(type.text) + "}";
      types.insert(types.end(), type.types.begin(), type.types.end());
    }
    text += std::string(") -> ") + function.result.text;
    types.insert(types.end(), function.result.types.begin(), function.result.types.end());
    types.push_back(nullptr);
    initialize_generic(std::move(record), text.c_str(), types.data(), function.arguments.size());
  }

 private:
  // As torch::wrap_pybind_function: errors of torch become Python's, warnings too.
  static py::handle dispatch(py::detail::function_call& call) {
    auto* function = static_cast<const Function*>(call.func.data[0]);
    std::vector<Argument> arguments;
    for (size_t i = 0; i < function->arguments.size(); ++i)
      arguments.push_back({call.args[i].ptr(), call.args_convert[i]});
    HANDLE_TH_ERRORS
    Object* result = function->call(function->function, arguments.data());
    return result ? py::handle(result) : PYBIND11_TRY_NEXT_OVERLOAD;
    END_HANDLE_TH_ERRORS_PYBIND
  }
};

Object* module(const char* name, const std::vector<Function>& functions) {
  try {
    py::detail::get_internals();
    // Both live as long as the module does: for ever.
    auto module = py::module_::create_extension_module(name, nullptr, new PyModuleDef());
    auto* kept = new std::vector<Function>(functions);
    for (const Function& function : *kept) module.add_object(function.name, Bound(function, module), true);
    return module.release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
  }
  return nullptr;
}

Object* none() { return py::none().release().ptr(); }

template <class Descr>
static Type described(const Descr& descr) {
  auto types = descr.types();
  return {descr.text, {types.begin(), types.end() - 1}};  // the last one ends the list
}

Type type_of_none() {
  static constexpr auto descr = py::detail::make_caster<py::detail::void_type>::name;
  return described(descr);
}

#define DEFINE(...)                                                                             \
  Type Convert<__VA_ARGS__>::type() {                                                           \
    static constexpr auto descr = py::detail::make_caster<__VA_ARGS__>::name;                   \
    return described(descr);                                                                    \
  }                                                                                             \
  bool Convert<__VA_ARGS__>::load(const Argument& argument, std::optional<__VA_ARGS__>& to) {   \
    py::detail::make_caster<__VA_ARGS__> caster;                                                \
    if (!caster.load(argument.from, argument.convert)) return false;                            \
    to.emplace(py::detail::cast_op<__VA_ARGS__>(std::move(caster)));                            \
    return true;                                                                                \
  }                                                                                             \
  Object* Convert<__VA_ARGS__>::cast(__VA_ARGS__&& value) {                                     \
    auto policy = py::return_value_policy::move;                                                \
    return py::detail::make_caster<__VA_ARGS__>::cast(std::move(value), policy, {}).ptr();      \
  }
BIND_TYPES(DEFINE)

}  // namespace itf::bind
