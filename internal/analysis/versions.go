package analysis

import (
	"slices"
)

// findVersions lists who answered and decides who is old and who is new: old
// is every id of the baseline; new is the expected id, else the first one that
// the baseline did not have. Where no version is new, instances are looked at.
func (s *state) findVersions() {
	type key struct{ ver, inst uint16 }
	versions := map[uint16]*Version{}
	instances := map[key]*Instance{}
	answers, withID := 0, 0
	for _, o := range s.all {
		if o.unfinished() || (o.status == 0) {
			continue
		}
		answers++
		if !o.named() {
			continue
		}
		withID++
		at, start, end := ns(o.arrival()), ns(o.start), ns(o.end)
		v := versions[o.ver]
		if v == nil {
			v = &Version{ID: s.ids.name(o.ver), First: at}
			versions[o.ver] = v
		}
		v.First, v.LastStart, v.LastEnd = min(v.First, at), max(v.LastStart, start), max(v.LastEnd, end)
		v.Answers++
		if o.inst == 0 {
			continue
		}
		k := key{o.ver, o.inst}
		i := instances[k]
		if i == nil {
			i = &Instance{ID: s.ids.name(o.inst), First: at, LastFreshStart: -1}
			instances[k] = i
		}
		i.First, i.LastStart, i.LastEnd = min(i.First, at), max(i.LastStart, start), max(i.LastEnd, end)
		if !o.reused() {
			i.LastFreshStart = max(i.LastFreshStart, start)
		}
		i.Answers++
	}
	s.target.NoID = answers > 0 && withID == 0
	s.out.Target = s.target

	for k, i := range instances {
		versions[k.ver].Instances = append(versions[k.ver].Instances, *i)
	}
	for _, v := range versions {
		slices.SortFunc(v.Instances, func(a, b Instance) int {
			return cmpThen(int64(a.First), int64(b.First), a.ID, b.ID)
		})
		s.out.Versions = append(s.out.Versions, *v)
	}
	slices.SortFunc(s.out.Versions, func(a, b Version) int {
		return cmpThen(int64(a.First), int64(b.First), a.ID, b.ID)
	})
	s.assignRoles()
}

func cmpThen(a, b int64, x, y string) int {
	if c := cmpInt(a, b); c != 0 {
		return c
	}
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (s *state) assignRoles() {
	old, other, new := Old, Other, New
	found := false
	names := slices.ContainsFunc(s.out.Versions, func(v Version) bool { return v.ID != "" })
	for i := range s.out.Versions {
		v := &s.out.Versions[i]
		switch {
		case s.baselineEnd < 0 || int64(v.First) <= s.baselineEnd:
			v.Role = old
		case v.ID == "" && names:
			v.Role = other // a page of something in front, or a build that lost its header: nobody's name
		case v.ID == s.head.Config.ExpectVersion && v.ID != "",
			!found && s.head.Config.ExpectVersion == "",
			!found && !s.appeared(s.head.Config.ExpectVersion):
			v.Role, found = new, true
		default:
			v.Role = other
		}
		for j := range v.Instances {
			v.Instances[j].Role = v.Role
		}
	}
	by := "version"
	if s.unstable() {
		s.indexRoles(by)
		return // whatever changes all the time has no cutover
	}
	if !found && s.head.Config.VersionFrom.Kind != "none" && s.instancesReplaced() {
		by, found = "instance", true
		for i := range s.out.Versions {
			for j := range s.out.Versions[i].Instances {
				in := &s.out.Versions[i].Instances[j]
				if in.Role = old; int64(in.First) > s.baselineEnd {
					in.Role = new
				}
			}
		}
	}
	if found {
		s.out.Cutover = &Cutover{By: by}
	}
	s.indexRoles(by)
}

// Versions of a baseline that are so many, and so large a share of its answers,
// name requests and not builds.
const (
	unstableIDs   = 20
	unstableShare = 5 // answers an id, at most
)

// unstable tells whether version ids change with about every request.
func (s *state) unstable() bool {
	ids, answers := 0, 0
	for _, v := range s.out.Versions {
		if v.ID != "" && v.Role == Old && s.baselineEnd >= 0 {
			ids++
			answers += v.Answers
		}
	}
	if ids < unstableIDs || answers > unstableShare*ids {
		return false
	}
	s.out.Target.Unstable = ids
	return true
}

// appeared tells whether a version with this id answered after the baseline.
func (s *state) appeared(id string) bool {
	return slices.ContainsFunc(s.out.Versions, func(v Version) bool {
		return v.ID == id && int64(v.First) > s.baselineEnd
	})
}

// goneAfter is how long an instance must have been silent at the end of the
// run to count as gone, in ns: 2 s, or ten times its mean interval.
const goneAfter = 2e9

// instancesReplaced tells whether, under one version, new instance ids came
// and old ones went: a restart. New ones alone are a larger fleet; and where
// nothing says that there was a deploy, old ones that stayed make it a fleet
// that changes its size or place.
func (s *state) instancesReplaced() bool {
	if s.baselineEnd < 0 {
		return false
	}
	came, went, stayed := false, false, false
	for _, v := range s.out.Versions {
		for _, i := range v.Instances {
			switch {
			case int64(i.First) > s.baselineEnd:
				came = true
			case s.gone(&i):
				went = true
			default:
				stayed = true
			}
		}
	}
	return came && went && (!stayed || s.deployStart >= 0)
}

func (s *state) gone(i *Instance) bool {
	quiet := int64(goneAfter)
	if i.Answers > 1 {
		quiet = max(quiet, 10*int64(i.LastStart-i.First)/int64(i.Answers))
	}
	return s.lastFast()-int64(i.LastStart) > quiet
}

// lastFast is the start of the last fast request.
func (s *state) lastFast() int64 {
	if len(s.fast) == 0 {
		return 0
	}
	return s.fast[len(s.fast)-1].start
}

// indexRoles makes roleOf a table look-up.
func (s *state) indexRoles(by string) {
	s.role = make([]string, len(s.ids.names))
	s.instOld = map[uint16]bool{}
	s.lastOf = map[uint16]int64{}
	for _, v := range s.out.Versions {
		if by == "version" && v.ID != "" {
			s.role[s.ids.numbers[v.ID]] = v.Role
		}
		for _, i := range v.Instances {
			n := s.ids.numbers[i.ID]
			if by == "instance" {
				s.role[n] = i.Role
			}
			if i.Role == Old {
				s.instOld[n] = true
			}
			s.lastOf[n] = max(s.lastOf[n], int64(i.LastEnd))
		}
	}
}

// roleFor is the role of one who is known by these ids; "" where nobody is.
func (s *state) roleFor(ver, inst uint16) string {
	if s.out.Cutover != nil && s.out.Cutover.By == "instance" {
		return s.role[inst]
	}
	if ver != 0 {
		return s.role[ver]
	}
	return ""
}

// roleOf is the role of who answered; "" where nobody did, or out of a cache.
func (s *state) roleOf(o *obs) string {
	if !o.named() {
		return ""
	}
	return s.roleFor(o.ver, o.inst)
}

// pinned tells whether a connection belongs to one instance, as behind a
// Kubernetes Service. Behind a proxy one connection is served by many.
func (s *state) pinned() bool {
	n := 0
	for _, v := range s.out.Versions {
		n += max(1, len(v.Instances))
	}
	return !s.mixed && n > 1
}
