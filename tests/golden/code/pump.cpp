#include <string>

namespace pump {

template <class T>
class Valve {
 public:
  explicit Valve(T name) : name_(name) {
    open();
  }
  ~Valve() {
    close();
  }
  bool operator==(const Valve& other) const {
    return name_ == other.name_;
  }

 private:
  T name_;
};

// 慢慢打开
template <class T>
void Valve<T>::open() {
  name_ = "开";
}

int* count(int n) {
  return new int(n);
}

}  // namespace pump
