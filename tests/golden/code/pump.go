// Package pump controls pumps. 控制水泵。
package pump

import "fmt"

type (
	// Valve 阀门
	Valve struct {
		Name string
	}
	State int
)

// Open opens it slowly.
func (v *Valve) Open(slowly bool) error {
	fmt.Println(v.Name)
	return nil
}

func New(name string) *Valve {
	return &Valve{Name: name}
}
