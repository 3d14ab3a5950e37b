#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <typeindex>
#include <typeinfo>

namespace ksana {

// The services of an application, by type. Jobs get what their constructors ask for from here.
// Bind everything before Scheduler::Start; after that any thread may read.
class Context {
  public:
    Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Binds an object that outlives the scheduler. A later call for the same type replaces the
    // earlier one. To bind an implementation to its interface: Bind<Interface>(object).
    template <class T>
    void Bind(T& object) {
        static_assert(!std::is_const_v<T>, "bind a non-const object");
        Put(typeid(T), std::shared_ptr<void>(std::shared_ptr<void>(), std::addressof(object)));
    }
    // Binds an object that the context keeps alive.
    template <class T>
    void Bind(std::shared_ptr<T> object) {
        static_assert(!std::is_const_v<T>, "bind a non-const object");
        Put(typeid(T), std::move(object));
    }

    // Returns the bound object. Throws std::out_of_range, whose message names the type, if there is
    // none.
    template <class T>
    T& Get() const {
        return *static_cast<T*>(Take(typeid(T)));
    }
    // Returns null if there is none.
    template <class T>
    T* Find() const {
        return static_cast<T*>(Look(typeid(T)).get());
    }
    // Shares the ownership of an object that was bound as a shared_ptr; otherwise the pointer does
    // not keep the object alive. Null if there is none.
    template <class T>
    std::shared_ptr<T> Share() const {
        return std::static_pointer_cast<T>(Look(typeid(T)));
    }

  private:
    void Put(std::type_index type, std::shared_ptr<void> object);
    std::shared_ptr<void> Look(std::type_index type) const;
    void* Take(const std::type_info& type) const;

    std::map<std::type_index, std::shared_ptr<void>> objects_;
};

}  // namespace ksana
