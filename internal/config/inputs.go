package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Input is one input of [Config]: a flag of the commands and an input of the action.
type Input struct {
	Name    string
	Default string // as the user would write it; "" where there is none
	Help    string
	Bool    bool // a switch: true or false
	// Recorded: it stands at the head of the samples. Secrets do not.
	Recorded bool
}

// Inputs lists the inputs of Config in the order of its fields.
func Inputs() []Input {
	t := reflect.TypeFor[Config]()
	out := make([]Input, t.NumField())
	for i := range out {
		f := t.Field(i)
		out[i] = Input{
			Name:    f.Tag.Get("name"),
			Default: f.Tag.Get("default"),
			Help:    f.Tag.Get("help"),
			Bool:    f.Type.Kind() == reflect.Bool,

			Recorded: f.Tag.Get("json") != "-",
		}
	}
	return out
}

// Default is the Config of a user who gave nothing. It is not valid: it has no url.
func Default() *Config {
	c, err := FromInputs(func(string) string { return "" })
	if err != nil {
		panic(fmt.Sprintf("config: a default does not parse: %v", err)) // a fault of the tags, which the tests read
	}
	return c
}

// FromInputs reads every input with get, which returns "" where nothing was
// given: that is the default. It parses, and leaves the rest to Validate. Its
// error joins one [InputError] for each input that does not parse.
func FromInputs(get func(name string) string) (*Config, error) {
	var c Config
	var errs []error
	for _, in := range Inputs() {
		if err := c.Set(in.Name, get(in.Name)); err != nil {
			errs = append(errs, err)
		}
	}
	return &c, errors.Join(errs...)
}

// Set gives the input of that name a value as the user wrote it; "" is its
// default. It returns an [InputError] where there is no such input, or where
// the value does not parse; then the field is as it was.
func (c *Config) Set(name, value string) error {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if tag.Get("name") != name {
			continue
		}
		if value == "" {
			value = tag.Get("default")
		}
		err := setField(v.Field(i), value)
		var bad *InputError
		if errors.As(err, &bad) {
			return &InputError{Input: name, Problem: bad.Problem}
		}
		return err
	}
	return inputf(name, "there is no such input; see the list of inputs in the README")
}

// Get is the value of the input of that name as it could be written; "" where
// there is no such input. Secrets are among them.
func (c *Config) Get(name string) string {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("name") != name {
			continue
		}
		switch f := v.Field(i).Interface().(type) {
		case encoding.TextMarshaler:
			text, err := f.MarshalText()
			if err != nil {
				return ""
			}
			return string(text)
		default:
			return fmt.Sprint(f)
		}
	}
	return ""
}

// setField parses text into f by f's type; "" is the zero value.
func setField(f reflect.Value, text string) error {
	fresh := reflect.New(f.Type())
	switch p := fresh.Interface().(type) {
	case encoding.TextUnmarshaler:
		if err := p.UnmarshalText([]byte(text)); err != nil {
			return err
		}
	case *string:
		*p = text
	case *int:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil && text != "" {
			return problemf("%s is not a whole number; write one like 20", quote(text))
		}
		*p = n
	case *bool:
		b, err := ParseBool(text)
		if err != nil && text != "" {
			return err
		}
		*p = b
	default:
		return fmt.Errorf("config: no parser for a field of type %s", f.Type())
	}
	f.Set(fresh.Elem())
	return nil
}

// ParseBool parses a switch as users of actions write it.
func ParseBool(text string) (bool, error) {
	switch strings.TrimSpace(text) {
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	}
	return false, problemf("%s is not a switch; write one of true, True, TRUE, false, False, FALSE", quote(text))
}

// Args prepares the arguments of a command for the flag parser. A flag of ours
// with an empty value ("--rate=" or "--rate" "") is its default, and so is left
// out; a negative number is joined to its flag, so that it is a value; a switch
// with a value must be one that [ParseBool] takes. What stands behind "--" is the user's command and stays as it is.
func Args(args []string) ([]string, error) {
	isBool := map[string]bool{}
	for _, in := range Inputs() {
		isBool["--"+in.Name] = in.Bool
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...), nil
		}
		name, value, joined := strings.Cut(args[i], "=")
		boolean, ours := isBool[name]
		switch {
		case ours && joined && value == "":
			continue
		case ours && !joined && !boolean && i+1 < len(args):
			i++
			switch {
			case negative(args[i]): // by itself the parser takes it for a flag
				out = append(out, name+"="+args[i])
			case args[i] != "":
				out = append(out, name, args[i])
			}
			continue
		case ours && joined && boolean:
			if _, err := ParseBool(value); err != nil {
				return nil, inputf(strings.TrimPrefix(name, "--"), "%s", err)
			}
		}
		out = append(out, args[i])
	}
	return out, nil
}

// negative tells whether an argument is a number below zero, with a unit or none.
func negative(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9'
}
