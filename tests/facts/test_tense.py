"""Which way along time a day is meant that names no year, month or week: by the words around it."""

from datetime import UTC, datetime, timedelta

import pytest

from memforest_ray.facts.expressions import find_times
from memforest_ray.facts.phrases.tense import puts_off, speaks_of_future

_SAID = int(datetime(2025, 6, 11, 10, tzinfo=UTC).timestamp()) * 1000
"""Wednesday, 11 June 2025."""


def _days(text: str, *, asked: bool = False) -> list[tuple[str, str]]:
    """First and last day of each time."""
    return [
        (f"{found.event.start:%Y-%m-%d}", f"{found.event.end - timedelta(1):%Y-%m-%d}")
        for found in find_times(text, _SAID, None, asked=asked)
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The release is planned for 14 December.", "2025-12-14", "2025-12-14"),
        ("I moved the deadline to 30 September.", "2025-09-30", "2025-09-30"),
        ("Moving in on 1 October.", "2025-10-01", "2025-10-01"),
        ("Opening a shop in October.", "2025-10-01", "2025-10-31"),
        ("Buying a house in October!", "2025-10-01", "2025-10-31"),
        ("Opening my own practice in Graz in the fall.", "2025-09-01", "2025-11-30"),
        ("Since Friday is a holiday, we leave early.", "2025-06-13", "2025-06-13"),
        ("I've given notice for the end of October.", "2025-10-22", "2025-10-31"),
        ("We get the keys on 12 August.", "2025-08-12", "2025-08-12"),
        ("Only two weeks until the trial on 4 July.", "2025-07-04", "2025-07-04"),
        ("My sister is getting married in May.", "2026-05-01", "2026-05-31"),
        ("In January, if all goes well.", "2026-01-01", "2026-01-31"),
        ("In January, if the bank agrees.", "2026-01-01", "2026-01-31"),
        ("The plumber comes on Monday at 9.", "2025-06-16", "2025-06-16"),
        ("MRI on Wednesday.", "2025-06-18", "2025-06-18"),
        ("Dentist on Friday at 3.", "2025-06-13", "2025-06-13"),
        ("Meeting at 5pm on the 3rd.", "2025-07-03", "2025-07-03"),
        ("Grandpa's birthday is on the 22nd.", "2025-06-22", "2025-06-22"),
        ("By Friday I need the slides.", "2025-06-13", "2025-06-13"),
        ("I need the slides by Friday.", "2025-06-13", "2025-06-13"),
        ("I need the slides on Friday.", "2025-06-13", "2025-06-13"),
        ("The deposit is due by 15 September.", "2025-09-15", "2025-09-15"),
        ("The workshop is postponed to March.", "2026-03-01", "2026-03-31"),
        ("The workshop was moved from March to May.", "2026-05-01", "2026-05-31"),
        ("The shop closes in spring.", "2026-03-01", "2026-05-31"),
        ("The demo is Thursday at 10.", "2025-06-12", "2025-06-12"),
        ("Easter in Rome is booked.", "2026-04-05", "2026-04-05"),
        ("My exam got moved to Friday.", "2025-06-13", "2025-06-13"),
        ("They pushed the launch back to October.", "2025-10-01", "2025-10-31"),
        ("The concert has been rescheduled for 2 April.", "2026-04-02", "2026-04-02"),
        ("We've booked the church for 3 May.", "2026-05-03", "2026-05-03"),
        ("I bought tickets for 14 March.", "2026-03-14", "2026-03-14"),
        ("I got tickets for the show on Friday.", "2025-06-13", "2025-06-13"),
        ("I made an appointment with Dr. Osei for Monday.", "2025-06-16", "2025-06-16"),
        ("She invited us to her party on Saturday.", "2025-06-14", "2025-06-14"),
        ("We're having people over on Sunday.", "2025-06-15", "2025-06-15"),
        ("I'm seeing the physio on Thursday.", "2025-06-12", "2025-06-12"),
        ("He's flying to Lima on Friday.", "2025-06-13", "2025-06-13"),
        ("The kids are off on Monday.", "2025-06-16", "2025-06-16"),
        ("I'm away on Thursday.", "2025-06-12", "2025-06-12"),
        ("I'm in Berlin on Tuesday.", "2025-06-17", "2025-06-17"),
        ("I start my new job on Monday.", "2025-06-16", "2025-06-16"),
        ("Ana starts at the bakery on Monday.", "2025-06-16", "2025-06-16"),
        ("My son turns 4 on 3 December.", "2025-12-03", "2025-12-03"),
        ("My lease runs out in August.", "2025-08-01", "2025-08-31"),
        ("The baby arrives in November.", "2025-11-01", "2025-11-30"),
        ("School begins on 8 September.", "2025-09-08", "2025-09-08"),
        ("Can you come on Saturday?", "2025-06-14", "2025-06-14"),
        ("I can't make it on Friday.", "2025-06-13", "2025-06-13"),
        ("I should be back on Sunday.", "2025-06-15", "2025-06-15"),
        ("Remember to water the plants on Monday.", "2025-06-16", "2025-06-16"),
        ("Call Ken on Monday.", "2025-06-16", "2025-06-16"),
        ("Please send me the form by Tuesday.", "2025-06-17", "2025-06-17"),
        ("Pick up the cake on Saturday.", "2025-06-14", "2025-06-14"),
        ("I promised to help Lou on Saturday.", "2025-06-14", "2025-06-14"),
        ("Hopefully we can move on 1 September.", "2025-09-01", "2025-09-01"),
        ("It's supposed to rain on Sunday.", "2025-06-15", "2025-06-15"),
        ("The results are expected on 20 June.", "2025-06-20", "2025-06-20"),
        ("The library is closed on Thursday.", "2025-06-12", "2025-06-12"),
        ("The strike is set for 1 July.", "2025-07-01", "2025-07-01"),
        ("I'm so excited about the concert on Saturday!", "2025-06-14", "2025-06-14"),
        ("I'm nervous about the interview on Monday.", "2025-06-16", "2025-06-16"),
        ("Coffee with Iris on Monday and lunch with Omar on Tuesday.", "2025-06-17", "2025-06-17"),
        ("Choir practice on Thursday.", "2025-06-12", "2025-06-12"),
        ("Parents' evening on Tuesday.", "2025-06-17", "2025-06-17"),
        ("Rent is due on the 1st.", "2025-07-01", "2025-07-01"),
        ("We're thinking of going to Crete in September.", "2025-09-01", "2025-09-30"),
        ("I'd love to visit you in August.", "2025-08-01", "2025-08-31"),
        ("I've got a haircut on Friday.", "2025-06-13", "2025-06-13"),
        ("I have choir on Tuesday.", "2025-06-17", "2025-06-17"),
        ("I was ill, but on Friday I have an exam.", "2025-06-13", "2025-06-13"),
        ("I saw Ken on Monday, and on Thursday the dentist comes.", "2025-06-12", "2025-06-12"),
        ("On 12 August we get the keys.", "2025-08-12", "2025-08-12"),
        ("On Friday I'm meeting the lawyer.", "2025-06-13", "2025-06-13"),
        ("We meet at the station on Saturday.", "2025-06-14", "2025-06-14"),
        ("We're in Rome until Thursday.", "2025-06-11", "2025-06-12"),
        ("I reserved a table for Friday.", "2025-06-13", "2025-06-13"),
        ("Move it to Tuesday at 11.", "2025-06-17", "2025-06-17"),
        ("My flight leaves on Sunday.", "2025-06-15", "2025-06-15"),
        ("The festival takes place in July.", "2025-07-01", "2025-07-31"),
        ("My passport expires in November.", "2025-11-01", "2025-11-30"),
        ("She moves out in September.", "2025-09-01", "2025-09-30"),
        ("We are closing the office in December.", "2025-12-01", "2025-12-31"),
        ("The trip to Oslo is in two weeks.", "2025-06-23", "2025-06-29"),
        ("The course runs from 5 July to 20 July.", "2025-07-05", "2025-07-20"),
        ("The gym is closed from 12 to 16 July.", "2025-07-12", "2025-07-16"),
        ("The wedding is on the first weekend of August.", "2025-08-02", "2025-08-03"),
        ("My parents arrive this weekend.", "2025-06-14", "2025-06-15"),
        ("I'll be in Rome in early July.", "2025-07-01", "2025-07-10"),
        ("The rent goes up from August.", "2025-08-01", "2025-08-31"),
        ("The trip on 5 July is cancelled.", "2025-07-05", "2025-07-05"),
        ("Lunch with Karl is on the 14th, dinner with Lea on the 16th.", "2025-06-16", "2025-06-16"),
        ("Final exams in July.", "2025-07-01", "2025-07-31"),
        ("Let's say 28 July.", "2025-07-28", "2025-07-28"),
        ("Make it 4 July.", "2025-07-04", "2025-07-04"),
        ("I graduate in July.", "2025-07-01", "2025-07-31"),
        ("Dad's surgery is on Thursday.", "2025-06-12", "2025-06-12"),
        ("The vet can see Bruno on Monday.", "2025-06-16", "2025-06-16"),
        ("My visa was extended until 3 August.", "2025-08-03", "2025-08-03"),
        ("I'm not working on Monday.", "2025-06-16", "2025-06-16"),
        ("The movers are coming on the 28th.", "2025-06-28", "2025-06-28"),
        ("My mother-in-law lands at Heathrow on Saturday morning.", "2025-06-14", "2025-06-14"),
        ("We have the inspector over on Thursday.", "2025-06-12", "2025-06-12"),
        ("Our next sprint begins on 7 July.", "2025-07-07", "2025-07-07"),
        ("The vet wants to see Rex again on Monday.", "2025-06-16", "2025-06-16"),
        ("Don't forget Lena's recital on Friday.", "2025-06-13", "2025-06-13"),
        ("Pia's recital is this Friday at six.", "2025-06-13", "2025-06-13"),
        ("Deadline: 31 August.", "2025-08-31", "2025-08-31"),
        ("Flight to Oslo on 3 July, 7:40.", "2025-07-03", "2025-07-03"),
        ("Team offsite in September.", "2025-09-01", "2025-09-30"),
        ("He gets his cast off on Monday.", "2025-06-16", "2025-06-16"),
        ("The tenants are out by the end of August.", "2025-08-22", "2025-08-31"),
        ("I'll know more on Friday.", "2025-06-13", "2025-06-13"),
        ("Maybe we could meet on Sunday?", "2025-06-15", "2025-06-15"),
        ("The new bridge opens to traffic in October.", "2025-10-01", "2025-10-31"),
        ("My probation ends on 30 September.", "2025-09-30", "2025-09-30"),
        ("They want the report on Monday.", "2025-06-16", "2025-06-16"),
        ("She's due on 14 August.", "2025-08-14", "2025-08-14"),
        ("I'm on call on Sunday.", "2025-06-15", "2025-06-15"),
        ("Tax return is due on 31 July.", "2025-07-31", "2025-07-31"),
        ("We close on the house on 18 July.", "2025-07-18", "2025-07-18"),
        ("The school trip has been put off until September.", "2025-09-01", "2025-09-30"),
        ("The appointment got pushed to the 24th.", "2025-06-24", "2025-06-24"),
        ("My brother marries Kim in October.", "2025-10-01", "2025-10-31"),
        ("I fly out on Friday and come back on Tuesday.", "2025-06-17", "2025-06-17"),
        ("The exhibition runs until 12 October.", "2025-06-11", "2025-10-12"),
        ("The warranty expires in March.", "2026-03-01", "2026-03-31"),
        ("On Sunday there's a flea market.", "2025-06-15", "2025-06-15"),
        ("There is a concert in the park on Saturday.", "2025-06-14", "2025-06-14"),
        ("There will be cake on Friday.", "2025-06-13", "2025-06-13"),
        ("The bank holiday is on Monday.", "2025-06-16", "2025-06-16"),
        ("Mum has her operation on Wednesday.", "2025-06-18", "2025-06-18"),
        ("Dad gets out of hospital on Friday.", "2025-06-13", "2025-06-13"),
        ("I must return the library books by Monday.", "2025-06-16", "2025-06-16"),
        ("Sign-up closes on 20 June.", "2025-06-20", "2025-06-20"),
        ("The semester starts in October.", "2025-10-01", "2025-10-31"),
        ("We've been invited to a wedding in Porto on 6 September.", "2025-09-06", "2025-09-06"),
        ("Gym with Sam on Thursday.", "2025-06-12", "2025-06-12"),
        ("Book group at mine on Tuesday.", "2025-06-17", "2025-06-17"),
        ("We are off to Crete on Saturday!", "2025-06-14", "2025-06-14"),
        ("Off to Crete on Saturday!", "2025-06-14", "2025-06-14"),
        ("Heading to Berlin on Friday.", "2025-06-13", "2025-06-13"),
        ("I need to be in Leeds on Monday.", "2025-06-16", "2025-06-16"),
        ("Let me know by Friday.", "2025-06-13", "2025-06-13"),
        ("Ask Jon about the boiler on Monday.", "2025-06-16", "2025-06-16"),
        ("The surveyor is booked in for Tuesday.", "2025-06-17", "2025-06-17"),
        ("My contract is up in December.", "2025-12-01", "2025-12-31"),
        ("Payday is on the 30th.", "2025-06-30", "2025-06-30"),
        ("He leaves for Japan in August.", "2025-08-01", "2025-08-31"),
        ("We're expecting in November.", "2025-11-01", "2025-11-30"),
        ("Thesis defence on 2 July!", "2025-07-02", "2025-07-02"),
        ("I will have finished by October.", "2025-10-01", "2025-10-31"),
        ("They are announcing the winners on Thursday.", "2025-06-12", "2025-06-12"),
        ("What are you doing on Saturday?", "2025-06-14", "2025-06-14"),
        ("Are you free on Sunday?", "2025-06-15", "2025-06-15"),
        ("Do we have anything on Friday?", "2025-06-13", "2025-06-13"),
    ],
)
def test_what_is_planned_fixed_or_appointed_lies_ahead(text: str, first: str, last: str) -> None:
    """Whether the future has a form, is a present, a participle, or has no verb at all."""
    assert _days(text)[-1] == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I saw her on Monday.", "2025-06-09", "2025-06-09"),
        ("We met in May.", "2025-05-01", "2025-05-31"),
        ("Gio and I got engaged on Saturday.", "2025-06-07", "2025-06-07"),
        ("We moved in on 1 October.", "2024-10-01", "2024-10-01"),
        ("I was given notice in October.", "2024-10-01", "2024-10-31"),
        ("Ana broke her leg on Friday.", "2025-06-06", "2025-06-06"),
        ("Grandpa sold the boat on Friday.", "2025-06-06", "2025-06-06"),
        ("The exam was on 3 March.", "2025-03-03", "2025-03-03"),
        ("The trial began on 4 July.", "2024-07-04", "2024-07-04"),
        ("The plumber came on Monday.", "2025-06-09", "2025-06-09"),
        ("I had the dentist on Friday at 3.", "2025-06-06", "2025-06-06"),
        ("Great dinner on Friday!", "2025-06-06", "2025-06-06"),
        ("Lovely walk in May.", "2025-05-01", "2025-05-31"),
        ("What a party on Saturday!", "2025-06-07", "2025-06-07"),
        ("Ana's wedding on Saturday was beautiful.", "2025-06-07", "2025-06-07"),
        ("Dinner with Ana on Friday was great.", "2025-06-06", "2025-06-06"),
        ("The concert in October was amazing.", "2024-10-01", "2024-10-31"),
        ("The meeting on Monday went well.", "2025-06-09", "2025-06-09"),
        ("I booked it, we went on Friday.", "2025-06-06", "2025-06-06"),
        ("Did you go on Monday?", "2025-06-09", "2025-06-09"),
        ("What did you do on Friday?", "2025-06-06", "2025-06-06"),
        ("Did we meet in May?", "2025-05-01", "2025-05-31"),
        ("Back in March I started running.", "2025-03-01", "2025-03-31"),
        ("I've been vegan since March.", "2025-03-01", "2025-06-11"),
        ("I have a photo from 4 July.", "2024-07-04", "2024-07-04"),
        ("This is us in Rome in May.", "2025-05-01", "2025-05-31"),
        ("I remember the rain in May.", "2025-05-01", "2025-05-31"),
        ("I love the dress she wore on Saturday.", "2025-06-07", "2025-06-07"),
        ("I'm loving the house we bought in August.", "2024-08-01", "2024-08-31"),
        ("Can't believe we met in May.", "2025-05-01", "2025-05-31"),
        ("We had lunch on Monday and dinner on Tuesday.", "2025-06-10", "2025-06-10"),
        ("I had coffee with Iris on Monday and lunch with Omar on Tuesday.", "2025-06-10", "2025-06-10"),
        ("I used to swim on Monday.", "2025-06-09", "2025-06-09"),
        ("He had to leave on Friday.", "2025-06-06", "2025-06-06"),
        ("They left on Friday.", "2025-06-06", "2025-06-06"),
        ("My cat died on Sunday.", "2025-06-08", "2025-06-08"),
        ("I finally handed in the thesis on Thursday.", "2025-06-05", "2025-06-05"),
        ("I read Dune in May.", "2025-05-01", "2025-05-31"),
        ("I hurt my knee on Sunday.", "2025-06-08", "2025-06-08"),
        ("I quit my job in January.", "2025-01-01", "2025-01-31"),
        ("On Monday I went to the garage.", "2025-06-09", "2025-06-09"),
        ("In July I was in Rome.", "2024-07-01", "2024-07-31"),
        ("She told me on Sunday.", "2025-06-08", "2025-06-08"),
        ("We celebrated our anniversary on 5 May.", "2025-05-05", "2025-05-05"),
        ("Her birthday was on 3 May.", "2025-05-03", "2025-05-03"),
        ("We went to the doctor on Friday.", "2025-06-06", "2025-06-06"),
        ("Best part was the surfing on Wednesday.", "2025-06-04", "2025-06-04"),
        ("I spent Christmas at home.", "2024-12-25", "2024-12-25"),
        ("We moved from Rome to Oslo in March.", "2025-03-01", "2025-03-31"),
        ("I moved to Leeds in September.", "2024-09-01", "2024-09-30"),
        ("I was in Rome until 4 March.", "2025-03-04", "2025-03-04"),
        ("It rained on Sunday.", "2025-06-08", "2025-06-08"),
        ("The baby was born in May.", "2025-05-01", "2025-05-31"),
        ("The twins were born on 3 May.", "2025-05-03", "2025-05-03"),
        ("I got a cat from the shelter in May.", "2025-05-01", "2025-05-31"),
        ("I got promoted in April.", "2025-04-01", "2025-04-30"),
        ("Turns out he quit in May.", "2025-05-01", "2025-05-31"),
        ("I've lived here since August.", "2024-08-01", "2025-06-11"),
        ("I got my results on Friday.", "2025-06-06", "2025-06-06"),
        ("I took the exam on Friday.", "2025-06-06", "2025-06-06"),
        ("I have a friend who moved here in March.", "2025-03-01", "2025-03-31"),
        ("I have a cousin who got married in August.", "2024-08-01", "2024-08-31"),
        ("We were supposed to fly on Friday.", "2025-06-06", "2025-06-06"),
        ("I couldn't sleep on Sunday.", "2025-06-08", "2025-06-08"),
        ("We didn't meet on Monday.", "2025-06-09", "2025-06-09"),
        ("It was our first race, on Sunday.", "2025-06-08", "2025-06-08"),
        ("The film we saw on Friday is wonderful.", "2025-06-06", "2025-06-06"),
        ("The pie you made on Sunday is all gone.", "2025-06-08", "2025-06-08"),
        ("Thanks for dinner on Friday!", "2025-06-06", "2025-06-06"),
        ("Thank you for the flowers on Monday.", "2025-06-09", "2025-06-09"),
        ("I'm still tired from the race on Sunday.", "2025-06-08", "2025-06-08"),
        ("I'm so glad we talked on Monday.", "2025-06-09", "2025-06-09"),
        ("I'm proud of the talk I gave in May.", "2025-05-01", "2025-05-31"),
        ("I'm glad you came on Saturday.", "2025-06-07", "2025-06-07"),
        ("The vase is from March.", "2025-03-01", "2025-03-31"),
        ("A photo of the race in May.", "2025-05-01", "2025-05-31"),
        ("My trip to Peru in August changed me.", "2024-08-01", "2024-08-31"),
        ("She has been there in May.", "2025-05-01", "2025-05-31"),
        ("I ran into Omar on Tuesday.", "2025-06-10", "2025-06-10"),
        ("We put the house up for sale in March.", "2025-03-01", "2025-03-31"),
        ("On Monday.", "2025-06-09", "2025-06-09"),
        ("In May.", "2025-05-01", "2025-05-31"),
        ("On Friday at 3.", "2025-06-06", "2025-06-06"),
        ("At 5 on Friday.", "2025-06-06", "2025-06-06"),
        ("on 18 March", "2025-03-18", "2025-03-18"),
        ("I won the race on Sunday.", "2025-06-08", "2025-06-08"),
        ("I'm back from the trip in May.", "2025-05-01", "2025-05-31"),
        ("Last I heard was in May.", "2025-05-01", "2025-05-31"),
        ("Karl and Lea separated in May, but they're together again.", "2025-05-01", "2025-05-31"),
        ("I wanted to go on Friday but I was ill.", "2025-06-06", "2025-06-06"),
        ("She planned the party in May and it was great.", "2025-05-01", "2025-05-31"),
        ("We planned to meet on Monday.", "2025-06-09", "2025-06-09"),
        ("They scheduled it badly, we met in April instead.", "2025-04-01", "2025-04-30"),
        ("I could hardly walk on Sunday.", "2025-06-08", "2025-06-08"),
        ("I could finally rest on Sunday.", "2025-06-08", "2025-06-08"),
        ("Everyone came on Saturday, even the kids.", "2025-06-07", "2025-06-07"),
        ("The visits in May were lovely.", "2025-05-01", "2025-05-31"),
        ("Two calls on Monday and both were bad.", "2025-06-09", "2025-06-09"),
        ("The match on Sunday ended 2-2.", "2025-06-08", "2025-06-08"),
        ("He plays the violin; he played it at the recital in May.", "2025-05-01", "2025-05-31"),
        ("I like how the garden looks since we planted it in May.", "2025-05-01", "2025-05-31"),
        ("It is amazing what we did in May.", "2025-05-01", "2025-05-31"),
        ("I think we met in May.", "2025-05-01", "2025-05-31"),
        ("I know I promised, but on Friday I forgot.", "2025-06-06", "2025-06-06"),
        ("I can still hear the song from the concert in May.", "2025-05-01", "2025-05-31"),
        ("I can show you the pictures I took in May.", "2025-05-01", "2025-05-31"),
        ("You should have seen her on Sunday!", "2025-06-08", "2025-06-08"),
        ("We should have left on Friday.", "2025-06-06", "2025-06-06"),
        ("He would have called on Monday.", "2025-06-09", "2025-06-09"),
        ("I am reading the book you gave me in May.", "2025-05-01", "2025-05-31"),
        ("I'm wearing the shirt I bought on Saturday.", "2025-06-07", "2025-06-07"),
        ("I'm learning the song we heard on Sunday.", "2025-06-08", "2025-06-08"),
        ("My leg is still sore, I fell on Sunday.", "2025-06-08", "2025-06-08"),
        ("The scar is from the accident in May.", "2025-05-01", "2025-05-31"),
        ("She is the one I met in May.", "2025-05-01", "2025-05-31"),
        ("He's the guy who fixed our car in April.", "2025-04-01", "2025-04-30"),
        ("That's the cake Mum baked on Sunday.", "2025-06-08", "2025-06-08"),
        ("It's the house where we stayed in August.", "2024-08-01", "2024-08-31"),
        ("My job is fine; I switched in May.", "2025-05-01", "2025-05-31"),
        ("Look at this! Taken on Sunday.", "2025-06-08", "2025-06-08"),
        ("Got back on Friday.", "2025-06-06", "2025-06-06"),
        ("Went climbing on Saturday.", "2025-06-07", "2025-06-07"),
        ("Saw a fox on Monday!", "2025-06-09", "2025-06-09"),
        ("Baked bread on Sunday.", "2025-06-08", "2025-06-08"),
        ("Finished my thesis in May!", "2025-05-01", "2025-05-31"),
        ("Had a blast on Saturday.", "2025-06-07", "2025-06-07"),
        ("Lost my keys on Monday.", "2025-06-09", "2025-06-09"),
        ("The doctor gave me pills on Thursday.", "2025-06-05", "2025-06-05"),
        ("Our neighbours moved out in May.", "2025-05-01", "2025-05-31"),
        ("I will never forget the day in May when we met.", "2025-05-01", "2025-05-31"),
        ("I will always remember the trip in August.", "2024-08-01", "2024-08-31"),
        ("I'm never going back to that place, we got robbed there in May.", "2025-05-01", "2025-05-31"),
        ("I have to tell you what happened on Friday!", "2025-06-06", "2025-06-06"),
        ("Guess what happened on Saturday.", "2025-06-07", "2025-06-07"),
        ("Let me tell you about the hike on Sunday.", "2025-06-08", "2025-06-08"),
        ("Let me show you the photos of the hike on Sunday.", "2025-06-08", "2025-06-08"),
        ("I need to tell you, on Friday I met someone.", "2025-06-06", "2025-06-06"),
        ("My plan worked, in May I ran a marathon.", "2025-05-01", "2025-05-31"),
        ("The next day, on Monday, we left.", "2025-06-09", "2025-06-09"),
        ("We next met in October.", "2024-10-01", "2024-10-31"),
        ("The plan was to leave on Friday.", "2025-06-06", "2025-06-06"),
        ("I've had the flu since Monday.", "2025-06-09", "2025-06-11"),
        ("She has worked there since March.", "2025-03-01", "2025-06-11"),
        ("I've been to Japan in April.", "2025-04-01", "2025-04-30"),
        ("The dentist pulled a tooth on Monday.", "2025-06-09", "2025-06-09"),
        ("They opened a bakery in March.", "2025-03-01", "2025-03-31"),
        ("The shop opened in March.", "2025-03-01", "2025-03-31"),
        ("We're back! The trip in May was wild.", "2025-05-01", "2025-05-31"),
        ("I'm glad the exam on Monday is over.", "2025-06-09", "2025-06-09"),
        ("Now that the exam in May is done, I can rest.", "2025-05-01", "2025-05-31"),
        ("Thanks for coming on Saturday!", "2025-06-07", "2025-06-07"),
        ("Thanks for having us on Sunday.", "2025-06-08", "2025-06-08"),
        ("Sorry for not coming on Saturday.", "2025-06-07", "2025-06-07"),
        ("It was nice seeing you on Sunday.", "2025-06-08", "2025-06-08"),
        ("I enjoyed meeting your mum on Sunday.", "2025-06-08", "2025-06-08"),
        ("After seeing her on Sunday, I cried.", "2025-06-08", "2025-06-08"),
        ("Seeing her on Sunday was good.", "2025-06-08", "2025-06-08"),
        ("Having dinner with you on Friday made my week.", "2025-06-06", "2025-06-06"),
    ],
)
def test_what_is_narrated_lies_behind(text: str, first: str, last: str) -> None:
    """Also where an appointment or a present stands beside it; and what tells nothing is past."""
    assert _days(text)[-1] == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The library is closed until Thursday.", "2025-06-11", "2025-06-12"),
        ("I'm in Rome until 4 July.", "2025-06-11", "2025-07-04"),
        ("My contract runs until March 2027.", "2025-06-11", "2027-03-31"),
        ("I take two pills a day until the end of July.", "2025-06-11", "2025-07-31"),
        ("I won't be back until Friday.", "2025-06-13", "2025-06-13"),
        ("The shop doesn't open until May.", "2026-05-01", "2026-05-31"),
        ("It is postponed until March.", "2026-03-01", "2026-03-31"),
        ("Two weeks until 4 July!", "2025-07-04", "2025-07-04"),
        ("I was in Rome until 4 March.", "2025-03-04", "2025-03-04"),
        ("I lived in Davis until January 2022.", "2022-01-01", "2022-01-31"),
    ],
)
def test_what_holds_until_a_day_to_come_holds_from_now(text: str, first: str, last: str) -> None:
    """As what holds since a day holds until now. What does not hold until then begins on that day."""
    assert _days(text) == [(first, last)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I'm working at Acme since January.", "2025-01-01"),
        ("I work at Acme since August.", "2024-08-01"),
        ("I'm dating Clara since February.", "2025-02-01"),
        ("I'm learning Dutch since Christmas.", "2024-12-25"),
        ("Since July I'm going to the gym.", "2024-07-01"),
        ("I'm on leave since Friday.", "2025-06-06"),
        ("I'm married since about 12 September.", "2024-09-12"),
    ],
)
def test_what_holds_since_then_began_before_it_was_said(text: str, first: str) -> None:
    """Whatever the tense: what began lies behind, and holds until it was said."""
    assert _days(text) == [(first, "2025-06-11")]


def test_what_was_bought_without_a_subject_is_past() -> None:
    """A verb that says so comes after the day."""
    assert _days("Selling the car in October was a mistake.") == [("2024-10-01", "2024-10-31")]


def test_the_first_of_two_days_may_lie_behind_the_second_ahead() -> None:
    """Each has the sign that is nearest."""
    assert _days("I saw Ken on Monday, and on Thursday the dentist comes.") == [
        ("2025-06-09", "2025-06-09"),
        ("2025-06-12", "2025-06-12"),
    ]


@pytest.mark.parametrize("text", ["dinner with Ana on Friday", "the dentist at 3 on Friday", "lunch on Friday?"])
def test_what_is_asked_about_without_a_verb_is_no_appointment(text: str) -> None:
    """A question may mean the Friday that was."""
    assert _days(text, asked=True) == [("2025-06-06", "2025-06-06")]
    assert _days(text) == [("2025-06-13", "2025-06-13")]


def test_a_question_with_a_verb_says_which_way_it_looks() -> None:
    """As a statement does."""
    assert _days("Does the plumber come on Friday, is he coming on Friday?", asked=True)[-1][0] == "2025-06-13"
    assert _days("What did I do on Friday?", asked=True)[-1][0] == "2025-06-06"


@pytest.mark.parametrize(
    "text",
    [
        "Today is Thursday.",
        "It is Thursday.",
        "I love it in spring.",
        "We cooked for Friday.",
        "She went to May.",
        "I gave the book to June.",
        "Easter in Rome was nice.",
    ],
)
def test_without_a_plan_such_words_are_no_time(text: str) -> None:
    """A weekday that is today, a season that returns, a name."""
    assert [days for days in _days(text) if days[0] != "2025-06-11"] == []


def test_only_what_was_put_off_gets_the_new_day() -> None:
    """ "From March to May" is a span of anything else."""
    assert puts_off("The exam was moved from 3 May to ", 33)
    assert not puts_off("We drove to ", 12)
    assert _days("We lived there from March to May.") == [("2025-03-01", "2025-05-31")]
    assert _days("The exam was moved from 3 July to 10 July.") == [("2025-07-10", "2025-07-10")]
    assert _days("The exam was moved from 3 to 10 July.") == [("2025-07-10", "2025-07-10")]
    assert _days("The exam was moved from March to May 2026.") == [("2026-05-01", "2026-05-31")]


def test_a_sentence_ends_at_no_title_and_no_hour() -> None:
    """ "Dr. Osei" and "9 a.m." are of the sentence that goes on."""
    for text in ("I see Dr. Osei on ", "I see the doctor at 9 a.m. on "):
        assert speaks_of_future(text + "Friday", len(text), len(text) + 6)


def test_a_long_run_is_read_in_bounded_time() -> None:
    """Only the nearest words of a sentence count, however long it is."""
    text = "coffee with " * 30_000 + "on Friday"
    assert _days(text) == [("2025-06-06", "2025-06-06")]
    assert len(_days("moved to Friday, " * 2_000)) == 2_000
